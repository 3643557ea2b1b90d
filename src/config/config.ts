import type { ServerSpec } from '../types.ts';

/** A configuration, resolved: variables expanded, paths absolute, servers in file order. */
export interface Config {
  /** The file it came from; undefined when it was given as an object. */
  path: string | undefined;
  /** Which program's format it was read as. */
  format: 'midspan' | 'mcp.json' | 'claude-desktop' | 'cursor' | 'vscode' | 'codex' | 'object';
  servers: ServerSpec[];
  /** What was ignored or looks wrong but is not an error, naming file, line and key. */
  warnings: string[];
}
