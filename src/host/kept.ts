/**
 * What an API could not carry or a size limit cut off: kept in the host's memory under short handles, and read again, in
 * slices, through the native function `read_result`.
 */
import { sha256Hex } from '../canonical.ts';
import type { Call, ContentBlock } from '../dialects/dialect.ts';
import { isObject } from '../mcp/message.ts';
import type { ToolResult } from '../types.ts';
import type { NativeFunction } from './natives.ts';

export const READ_RESULT = 'read_result';
/** What is kept at the same time, at most; what was used least recently goes first. */
export const MAX_KEPT = 256;
export const MAX_KEPT_BYTES = 128 * 1024 * 1024;
/** Characters of one slice, asked for or not. The longest stays whole under the usual size limit of a result. */
export const LONGEST_SLICE = 50_000;
export const USUAL_SLICE = 20_000;
/** Base64 is of little use to a model, and every character costs. */
export const USUAL_BINARY_SLICE = 1_000;

const HANDLE_DIGITS = 12;

export interface Kept {
  /**
   * Keeps a block and returns its handle: the same for the same content, whenever it is asked. Undefined for a block that
   * is too large, and for what `read_result` itself returned.
   */
  readonly keep: (block: ContentBlock, call: Call) => string | undefined;
  readonly native: NativeFunction;
}

export function keptResults(): Kept {
  // A map lists its members in the order of their insertion: the first is the one that was used least recently.
  const blocks = new Map<string, { block: ContentBlock; bytes: number }>();
  let total = 0;
  const use = (handle: string): ContentBlock | undefined => {
    const kept = blocks.get(handle);
    if (kept === undefined) return undefined;
    blocks.delete(handle);
    blocks.set(handle, kept);
    return kept.block;
  };
  const keep = (block: ContentBlock, call: Call): string | undefined => {
    if (call.name === READ_RESULT) return undefined;
    const json = jsonOf(block);
    const bytes = json === undefined ? 0 : Buffer.byteLength(json);
    if (json === undefined || bytes > MAX_KEPT_BYTES) return undefined;
    const handle = `kept_${sha256Hex('midspan/kept/1', json).slice(0, HANDLE_DIGITS)}`;
    if (use(handle) !== undefined) return handle;
    blocks.set(handle, { block, bytes });
    total += bytes;
    for (const [oldest, { bytes: freed }] of blocks) {
      if (blocks.size <= MAX_KEPT && total <= MAX_KEPT_BYTES) break;
      blocks.delete(oldest);
      total -= freed;
    }
    return handle;
  };
  return {
    keep,
    native: {
      name: READ_RESULT,
      description: 'Reads stored content, in slices, by the handle that a result names.',
      inputSchema: {
        type: 'object',
        properties: {
          handle: { type: 'string' },
          offset: { type: 'integer', minimum: 0, description: 'First character. Default 0.' },
          length: { type: 'integer', minimum: 1, maximum: LONGEST_SLICE, description: 'Characters.' },
        },
        required: ['handle'],
      },
      annotations: { readOnlyHint: true },
      run({ handle, offset, length }) {
        const block = use(handle as string);
        return block === undefined
          ? gone(handle as string)
          : slice(block, (offset as number | undefined) ?? 0, length as number | undefined);
      },
    },
  };
}

/** Undefined for a block that is nested too deeply to be written. */
function jsonOf(block: ContentBlock): string | undefined {
  try {
    return JSON.stringify(block);
  } catch {
    return undefined;
  }
}

function gone(handle: string): ToolResult {
  const text =
    `Nothing is stored under ${JSON.stringify(handle.slice(0, 100))}: it was never there, or had to make room. ` +
    'Take a handle from a result, or make the call again that returned the content.';
  return { content: [{ type: 'text', text }], isError: true };
}

/** A slice, and in a block of its own what it is a slice of. */
function slice(block: ContentBlock, offset: number, length: number | undefined): ToolResult {
  const { text, what, isBinary } = contentOf(block);
  const start = afterPair(text, Math.min(offset, text.length));
  const end = afterPair(
    text,
    Math.min(start + (length ?? (isBinary ? USUAL_BINARY_SLICE : USUAL_SLICE)), text.length),
  );
  const left = text.length - end;
  const rest = left === 0 ? 'nothing is left' : `${left} are left, from offset ${end}`;
  const facts = `[${what}: characters ${start} to ${end} of ${text.length}; ${rest}]`;
  const texts = start === end ? [facts] : [text.slice(start, end), facts];
  return { content: texts.map((each) => ({ type: 'text', text: each })) };
}

/** A cut may not part the two halves of a character. */
function afterPair(text: string, at: number): number {
  return at > 0 && /^[\uD800-\uDBFF][\uDC00-\uDFFF]$/.test(text.slice(at - 1, at + 1)) ? at + 1 : at;
}

interface Content {
  /** The text, or base64. */
  text: string;
  what: string;
  isBinary: boolean;
}

function contentOf(block: ContentBlock): Content {
  if (block.type === 'text' && typeof block['text'] === 'string') {
    return { text: block['text'], what: 'text', isBinary: false };
  }
  const { resource } = block;
  const holder = isObject(resource) ? resource : block;
  const type = mimeOf(holder['mimeType']);
  if (typeof holder['text'] === 'string') {
    return { text: holder['text'], what: `resource${type}`, isBinary: false };
  }
  const data = holder === block ? block['data'] : holder['blob'];
  if (typeof data !== 'string') return { text: jsonOf(block) ?? '', what: 'block as JSON', isBinary: false };
  const bytes = Buffer.from(data.replace(/^data:[^,]{0,200};base64,/, ''), 'base64');
  const decoded = textIn(bytes);
  const what = `${block.type}${type}, ${bytes.length} bytes`;
  return decoded === undefined
    ? { text: bytes.toString('base64'), what: `${what}, as base64`, isBinary: true }
    : { text: decoded, what: `${what}, as text`, isBinary: false };
}

/** A server's word, fit to stand in a line of ours. */
function mimeOf(value: unknown): string {
  return typeof value === 'string' && /^[\x21-\x7e]{1,100}$/.test(value) ? ` ${value}` : '';
}

/** Whatever a server declares: bytes are text when they are UTF-8 and no controls are in it. */
function textIn(bytes: Buffer): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    // oxlint-disable-next-line no-control-regex
    return /[\u0000-\u0008\u000e-\u001a\u001c-\u001f\u007f]/.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}
