/** URIs in what a server answered, as clients of an endpoint know them. What holds none is the same object. */
import { isObject } from '../../mcp/message.ts';
import type { Json, JsonObject } from '../../types.ts';

export type ShownUri = (uri: string) => string;

/** The content blocks of a tool's result. */
export function shownResult(result: JsonObject, shown: ShownUri): JsonObject {
  const content = shownBlocks(result['content'], shown);
  return content === result['content'] ? result : { ...result, content };
}

/** The messages of a prompt. */
export function shownPrompt(result: JsonObject, shown: ShownUri): JsonObject {
  const { messages } = result;
  if (!Array.isArray(messages)) return result;
  return {
    ...result,
    messages: messages.map((message) =>
      isObject(message) ? { ...message, content: shownBlock(message['content'], shown) } : message,
    ),
  };
}

/** The contents of a resource. */
export function shownContents(result: JsonObject, shown: ShownUri): JsonObject {
  const { contents } = result;
  if (!Array.isArray(contents)) return result;
  return { ...result, contents: contents.map((each) => withUri(each, shown)) };
}

function shownBlocks(blocks: Json | undefined, shown: ShownUri): Json | undefined {
  if (!Array.isArray(blocks) || !blocks.some(holdsUri)) return blocks;
  return blocks.map((block) => shownBlock(block, shown) ?? null);
}

const holdsUri = (block: Json): boolean =>
  isObject(block) && (block['type'] === 'resource' || block['type'] === 'resource_link');

function shownBlock(block: Json | undefined, shown: ShownUri): Json | undefined {
  if (!isObject(block)) return block;
  if (block['type'] === 'resource_link') return withUri(block, shown);
  if (block['type'] === 'resource' && isObject(block['resource']))
    return { ...block, resource: withUri(block['resource'], shown) };
  return block;
}

function withUri(item: Json, shown: ShownUri): Json {
  return isObject(item) && typeof item['uri'] === 'string' ? { ...item, uri: shown(item['uri']) } : item;
}
