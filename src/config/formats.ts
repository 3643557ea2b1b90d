/** Which program's file it is, by its name and what is in it, and how that program writes its servers. */
import path from 'node:path';
import { codexFields, commonFields, type Fields, midspanFields } from './entry.ts';
import type { Item } from './syntax.ts';

export type FormatId = 'midspan' | 'mcp.json' | 'claude-desktop' | 'cursor' | 'vscode' | 'codex' | 'object';

export interface Format {
  id: FormatId;
  /** The member that holds the servers. */
  root: string;
  /** Ours: a key that we do not know is an error. */
  strict: boolean;
  fields: Fields;
  /** Resolves `${workspaceFolder}` and the like. */
  workspace?: boolean;
  inputs?: boolean;
}

const midspan: Format = { id: 'midspan', root: 'mcpServers', strict: true, fields: midspanFields };
const mcpJson: Format = { id: 'mcp.json', root: 'mcpServers', strict: false, fields: commonFields };
const claudeDesktop: Format = { ...mcpJson, id: 'claude-desktop' };
const cursor: Format = { ...mcpJson, id: 'cursor', workspace: true };
const vscode: Format = {
  id: 'vscode',
  root: 'servers',
  strict: false,
  fields: commonFields,
  workspace: true,
  inputs: true,
};

export const codex: Format = { id: 'codex', root: 'mcp_servers', strict: false, fields: codexFields };
/** A configuration that a program made. */
export const given: Format = { ...midspan, id: 'object' };

/** File names of other programs that keep their servers under `mcpServers`, beside settings of their own. */
const OTHERS = [
  '.mcp.json',
  'mcp.json',
  '.claude.json',
  'mcp_config.json',
  'mcp-config.json',
  'settings.json',
];

export const isToml = (file: string): boolean => path.extname(file).toLowerCase() === '.toml';

export function jsonFormat(file: string, root: Item): Format {
  const name = path.basename(file).toLowerCase();
  const folder = path.basename(path.dirname(file)).toLowerCase();
  const has = (key: string): boolean => root.value instanceof Map && root.value.has(key);
  if (name.includes('midspan')) return midspan;
  if (folder === '.vscode' || (has('servers') && !has('mcpServers')))
    return has('mcpServers') && !has('servers') ? mcpJson : vscode;
  if (folder === '.cursor') return cursor;
  if (name === 'claude_desktop_config.json') return claudeDesktop;
  return OTHERS.includes(name) ? mcpJson : midspan;
}

/** The folder that a file speaks for: `.vscode/mcp.json` and the like stand for the folder around theirs. */
export function baseOf(file: string): string {
  const folder = path.dirname(file);
  return ['.vscode', '.cursor', '.codex'].includes(path.basename(folder).toLowerCase())
    ? path.dirname(folder)
    : folder;
}
