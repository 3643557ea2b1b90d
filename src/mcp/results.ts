/** Results: that of `tools/call`, read tolerantly (a block that nobody could read is left out, the rest stays), and the bounds of the others. */
import { MEDIA_MAX, RESULT_BLOCKS_MAX, RESULT_TEXT_MAX } from './protocol-limits.ts';
import { isObject } from './message.ts';
import { safeText } from './text.ts';
import type { ContentBlock, Json, JsonObject, ToolResult } from '../types.ts';

/** What a block of each known type must have, as the sentence that says what is wrong. Unknown types are kept as they are. */
const FAULT: Readonly<Record<string, (block: JsonObject) => string | undefined>> = {
  text: ({ text }) => (typeof text === 'string' ? undefined : 'its text is not a string'),
  image: media,
  audio: media,
  resource_link: ({ uri }) => (typeof uri === 'string' ? undefined : 'its uri is not a string'),
  resource({ resource }) {
    if (!isObject(resource) || typeof resource.uri !== 'string') return 'its resource has no uri';
    if (typeof resource.text !== 'string' && typeof resource.blob !== 'string')
      return 'its resource has no content';
    return undefined;
  },
};

function media({ data, mimeType }: JsonObject): string | undefined {
  if (typeof data !== 'string' || typeof mimeType !== 'string') return 'it has no data or no MIME type';
  return data.length * 0.75 > MEDIA_MAX ? `it is larger than ${MEDIA_MAX} bytes` : undefined;
}

/**
 * A tool's result in neutral form; `note` hears of what was left out. Undefined when it is not a result at all.
 * Beyond the bounds it becomes an error result that says so.
 */
export function readToolResult(raw: JsonObject, note: (text: string) => void): ToolResult | undefined {
  // The first revision's results had `toolResult` in place of content.
  const listed =
    raw.content ?? (raw.structuredContent !== undefined || raw.toolResult !== undefined ? [] : undefined);
  if (!Array.isArray(listed)) return undefined;
  if (listed.length > RESULT_BLOCKS_MAX)
    return tooLarge(`more than ${RESULT_BLOCKS_MAX} content blocks`, note);
  let text = 0;
  let broken = false;
  for (let index = 0; index < listed.length; index += 1) {
    const block = listed[index];
    const fault = faultOf(block);
    if (fault !== undefined) {
      note(`content block ${index + 1} was left out: ${fault}`);
      broken = true;
    } else text += textOf(block as ContentBlock);
  }
  const content = broken ? listed.filter((block) => faultOf(block) === undefined) : listed;
  const { structuredContent, isError, _meta: meta } = raw;
  if (structuredContent !== undefined && typeof structuredContent === 'object') {
    if (text <= RESULT_TEXT_MAX) text += JSON.stringify(structuredContent).length;
  } else if (typeof structuredContent === 'string') text += structuredContent.length;
  if (text > RESULT_TEXT_MAX) return tooLarge(`more than ${RESULT_TEXT_MAX} characters of text`, note);
  if (isError !== undefined && isError !== null && typeof isError !== 'boolean')
    note('isError was left out: it is not a boolean');
  if (meta !== undefined && meta !== null && !isObject(meta)) note('_meta was left out: it is not an object');
  if (
    !broken &&
    raw.content === listed &&
    (isError === undefined || typeof isError === 'boolean') &&
    (meta === undefined || isObject(meta))
  ) {
    return raw as ToolResult;
  }
  const result: ToolResult = { ...raw, content: content as ContentBlock[] };
  if (typeof isError !== 'boolean') delete result.isError;
  if (!isObject(meta)) delete result._meta;
  if (raw.toolResult !== undefined && structuredContent === undefined) {
    result.structuredContent = raw.toolResult;
    delete result.toolResult;
  }
  return result;
}

/** The parts of the results that are bounded, by method; undefined for a result that is none. */
const PARTS: Readonly<Record<string, (result: JsonObject) => readonly (Json | undefined)[] | undefined>> = {
  'prompts/get': ({ messages }) =>
    Array.isArray(messages) ? messages.flatMap((each) => (isObject(each) ? each.content : each)) : undefined,
  'resources/read': ({ contents }) => (Array.isArray(contents) ? contents : undefined),
  'completion/complete': ({ completion }) =>
    isObject(completion) && Array.isArray(completion.values) ? completion.values : undefined,
};

/**
 * What is wrong with a result that is passed on as it is: `none` says that it is not a result of this method at all, `excess`
 * how it goes beyond the bounds of a tool's. Undefined when nothing is.
 */
export function resultFault(
  method: string,
  result: JsonObject,
): { none: true } | { excess: string } | undefined {
  if (!Object.hasOwn(PARTS, method)) return undefined;
  const parts = PARTS[method]?.(result);
  if (parts === undefined) return { none: true };
  if (parts.length > RESULT_BLOCKS_MAX) return { excess: `more than ${RESULT_BLOCKS_MAX} parts` };
  let text = 0;
  for (const part of parts) {
    const holder = isObject(part) ? part : { text: part };
    const inner = isObject(holder.resource) ? holder.resource : holder;
    for (const bytes of [holder.data, inner.blob])
      if (typeof bytes === 'string' && bytes.length * 0.75 > MEDIA_MAX)
        return { excess: `a part of more than ${MEDIA_MAX} bytes` };
    const words = holder.text ?? inner.text;
    if (typeof words === 'string') text += words.length;
    if (text > RESULT_TEXT_MAX) return { excess: `more than ${RESULT_TEXT_MAX} characters of text` };
  }
  return undefined;
}

function faultOf(block: Json | undefined): string | undefined {
  if (!isObject(block) || typeof block.type !== 'string') return 'it is not an object with a type';
  const fault = Object.hasOwn(FAULT, block.type) ? FAULT[block.type]?.(block) : undefined;
  return fault === undefined ? undefined : `${safeText(block.type, 40)}: ${fault}`;
}

function textOf(block: ContentBlock): number {
  if (typeof block.text === 'string') return block.text.length;
  const { resource } = block;
  return isObject(resource) && typeof resource.text === 'string' ? resource.text.length : 0;
}

function tooLarge(what: string, note: (text: string) => void): ToolResult {
  note(`the result was withheld: it has ${what}`);
  return {
    content: [
      {
        type: 'text',
        text: `The tool ran, but its result has ${what}, which is more than is let through. Ask it for less.`,
      },
    ],
    isError: true,
  };
}
