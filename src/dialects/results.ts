/** What a tool answered, as a model may see it: the policy that all dialects share. */
import type { ContentBlock, Json, ToolResult } from '../types.ts';
import type { Carrier, Media, Piece } from './content.ts';
import { joinedText, readBlocks, textBytes } from './content.ts';
import type { CallResult, ResultOptions } from './dialect.ts';
import { asObject, asText, parsed, sameJson } from './json.ts';
import { firstBytes, oneLine, readableSize, wellFormed } from './text.ts';

export interface ReadResult {
  inside: Piece[];
  after: Media[];
  isError: boolean;
  /** The structured content, when the text says exactly that and is whole: for APIs that take objects. */
  structured: Json | undefined;
  losses: string[];
}

/** Stands in front of an error's text where the API has no flag for it. */
export const errorPrefix = '[tool error] ';

const usualMaxText = 262_144;
/** A text this much longer than the JSON of the structured content can only be it with more around it. */
const mostCompared = 8_000_000;

export function readResult(
  { call, result }: CallResult,
  carrier: Carrier,
  options: ResultOptions = {},
): ReadResult {
  const blocks = Array.isArray(result.content) ? result.content : [];
  const shown = blocks.filter((block) => !isForUserOnly(block));
  const keep = (block: ContentBlock): string | undefined => options.keep?.(block, call);
  const read = readBlocks(shown, carrier, keep);
  const losses = read.losses.map((loss) => `${call.name} (${call.id}): ${loss}`);

  let { inside } = read;
  const structured = result.structuredContent;
  const texts = shown.flatMap((block) => (asObject(block)?.type === 'text' ? [asText(block['text'])] : []));
  const mirrored = structured !== undefined && says(texts, structured);
  const json = structured === undefined || mirrored ? undefined : jsonText(structured);
  if (json !== undefined) inside = [...inside, { type: 'text', text: wellFormed(json) }];
  if (inside.length === 0 && read.after.length === 0 && shown.length < blocks.length) {
    inside = [{ type: 'text', text: '[the result is meant for the user only]' }];
  }
  const limited = limitText(inside, options.maxText ?? usualMaxText, keep);
  if (limited !== inside)
    losses.push(`${call.name} (${call.id}): the text was cut to ${options.maxText ?? usualMaxText} bytes`);
  return {
    inside: limited,
    after: read.after,
    isError: result.isError === true,
    structured:
      limited === inside && inside.length === 1 && (mirrored ? texts.length === 1 : texts.length === 0)
        ? structured
        : undefined,
    losses,
  };
}

/** Puts the fixed prefix before the first text. */
export function withErrorPrefix(pieces: readonly Piece[]): Piece[] {
  const at = pieces.findIndex((piece) => piece.type === 'text');
  if (at === -1) return [{ type: 'text', text: errorPrefix.trim() }, ...pieces];
  return pieces.map((piece, index) =>
    index === at && piece.type === 'text' ? { type: 'text', text: `${errorPrefix}${piece.text}` } : piece,
  );
}

/** The caption of media that stand after the result they belong to. */
export function captionOf(media: Media, { call }: CallResult): string {
  return `${media.type === 'file' ? 'File' : media.type === 'image' ? 'Image' : 'Audio'} returned by the tool ${call.name} (call ${call.id}):`;
}

/** The answer for a call that no result came for: APIs refuse a conversation with an open call. */
export function notRun(problem = 'The call was not run.'): ToolResult {
  return { content: [{ type: 'text', text: problem }], isError: true };
}

function isForUserOnly(block: ContentBlock): boolean {
  const { annotations, resource } = asObject(block) ?? {};
  const audience =
    asObject(annotations)?.['audience'] ?? asObject(asObject(resource)?.['annotations'])?.['audience'];
  return Array.isArray(audience) && audience.length > 0 && audience.every((who) => who === 'user');
}

/** Do the texts already say the value? Either one does, or they hold its items, or what frameworks wrap as `{result}`. */
function says(texts: readonly string[], value: Json): boolean {
  if (texts.some((text) => saysOne(text, value))) return true;
  if (Array.isArray(value)) {
    return (
      value.length > 0 &&
      value.length === texts.length &&
      value.every((item, at) => saysOne(texts[at] ?? '', item))
    );
  }
  const object = asObject(value);
  const inner = object?.['result'];
  return (
    object !== undefined && inner !== undefined && Object.keys(object).length === 1 && says(texts, inner)
  );
}

function saysOne(text: string, value: Json): boolean {
  if (text === value) return true;
  return text.length <= mostCompared && sameJson(parsed(text), value);
}

function jsonText(value: Json): string {
  try {
    return JSON.stringify(value);
  } catch {
    return '[structured content that is nested too deeply to be shown]';
  }
}

/** The same array when all text fits; otherwise text up to the limit and one notice that names where the whole is. */
function limitText(
  pieces: Piece[],
  most: number,
  keep: (block: ContentBlock) => string | undefined,
): Piece[] {
  const bytes = textBytes(pieces);
  if (bytes <= most) return pieces;
  const handle = keep({ type: 'text', text: joinedText(pieces) });
  const whole = handle === undefined ? '' : `; the whole is stored as ${oneLine(handle)}`;
  const notice = `[truncated: the first ${readableSize(most)} of ${readableSize(bytes)} are shown${whole}]`;
  const kept: Piece[] = [];
  let left = most;
  let full = false;
  for (const piece of pieces) {
    if (piece.type !== 'text') {
      kept.push(piece);
    } else if (!full) {
      const text = firstBytes(piece.text, left);
      full = text.length < piece.text.length;
      left -= textBytes([piece]);
      if (text !== '') kept.push({ type: 'text', text });
      if (full) kept.push({ type: 'text', text: notice });
    }
  }
  return kept;
}
