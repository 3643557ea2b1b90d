/** A tool's result for a person. */
import type { ContentBlock, JsonObject, ToolResult } from '../types.ts';
import type { Printer } from './print.ts';

export function printResult(result: ToolResult, print: Printer): void {
  for (const block of result.content) {
    const text = blockText(block);
    print.text(text.endsWith('\n') ? text : `${text}\n`);
  }
  if (result.content.length === 0 && result.structuredContent !== undefined) {
    print.text(`${JSON.stringify(result.structuredContent, null, 2)}\n`);
  }
}

/** What cannot be shown in a terminal is described; `--json` has all of it. */
function blockText(block: ContentBlock): string {
  const { type, text, data, resource } = block;
  if (type === 'text' && typeof text === 'string') return text;
  if (type === 'image' || type === 'audio') {
    const bytes = typeof data === 'string' ? Math.floor((data.length * 3) / 4) : 0;
    return `[${type}${words(block, ['mimeType'])}, about ${bytes} bytes]`;
  }
  if (type === 'resource_link') return `[resource${words(block, ['uri', 'name'])}]`;
  if (type === 'resource' && typeof resource === 'object' && resource !== null && !Array.isArray(resource)) {
    const { text } = resource;
    return typeof text === 'string' ? text : `[resource${words(resource, ['uri', 'mimeType'])}]`;
  }
  return JSON.stringify(block);
}

const words = (object: JsonObject, members: readonly string[]): string =>
  members.flatMap((member) => (typeof object[member] === 'string' ? [` ${object[member]}`] : [])).join('');
