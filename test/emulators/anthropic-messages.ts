/** What Anthropic Messages refuses of a conversation: its blocks, and how calls, results and thinking belong together. */
import { CONNECTOR_BLOCKS } from './anthropic-mcp.ts';
import { invalid, only } from './anthropic-request.ts';
import { blocksOf, type Ledger, signatureAt } from './anthropic-thinking.ts';
import { isObject, show } from './server.ts';
import type { Json, JsonObject } from '../../src/types.ts';

export function checkMessages(body: JsonObject, ledger: Ledger): void {
  const { messages } = body;
  if (!Array.isArray(messages)) invalid('messages: Input should be a valid list');
  if (messages.length === 0) invalid('messages: at least one message is required');
  for (const [index, message] of messages.entries())
    checkMessage(message, index, index === messages.length - 1);
  const list = messages as JsonObject[];
  if (list[0]?.role !== 'user') invalid('messages: first message must use the "user" role');
  checkPairs(list);
  checkEnd(list);
  checkThoughts(body, list, ledger);
}

function checkMessage(message: Json, index: number, last: boolean): void {
  const path = `messages.${index}`;
  if (!isObject(message)) invalid(`${path}: Input should be a valid dictionary`);
  only(message, path, ['role', 'content']);
  const { role, content } = message;
  if (role !== 'user' && role !== 'assistant') invalid(`${path}.role: Input should be 'user' or 'assistant'`);
  if (typeof content !== 'string' && !Array.isArray(content)) {
    invalid(`${path}.content: Input should be a valid string or list`);
  }
  if (content.length === 0 && !(last && role === 'assistant')) {
    invalid(
      role === 'user'
        ? `${path}: user messages must have non-empty content`
        : 'messages: all messages must have non-empty content except for the optional final assistant message',
    );
  }
  if (typeof content === 'string') return checkText(content);
  for (const [position, block] of content.entries()) {
    const where = `${path}.content.${position}`;
    if (!isObject(block)) invalid(`${where}: Input should be a valid dictionary`);
    const check = (role === 'user' ? USER_BLOCKS : ASSISTANT_BLOCKS)[show(block.type)];
    if (check === undefined)
      invalid(
        `${where}: Input tag '${show(block.type)}' found using 'type' does not match any of the expected tags`,
      );
    check(block, `${where}.${show(block.type)}`);
  }
}

function checkText(text: string): void {
  if (text === '') invalid('messages: text content blocks must be non-empty');
  if (text.trim() === '') invalid('messages: text content blocks must contain non-whitespace text');
}

type Check = (block: JsonObject, path: string) => void;

const text: Check = (block, path) => {
  only(block, path, ['type', 'text', 'citations', 'cache_control']);
  if (typeof block.text !== 'string') invalid(`${path}.text: Field required`);
  checkText(block.text);
};

const MEDIA_TYPES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp'];

const image: Check = (block, path) => {
  only(block, path, ['type', 'source', 'cache_control']);
  const { source } = block;
  if (!isObject(source)) invalid(`${path}.source: Field required`);
  if (source.type !== 'base64') return;
  only(source, `${path}.source.base64`, ['type', 'media_type', 'data']);
  if (!MEDIA_TYPES.includes(show(source.media_type))) {
    invalid(
      `${path}.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'`,
    );
  }
  checkBase64(source.data, `${path}.source.base64`);
  if (show(source.data).length > 5_242_880) {
    invalid(
      `${path}.source.base64: image exceeds 5 MB maximum: ${show(source.data).length} bytes > 5242880 bytes`,
    );
  }
};

const document: Check = (block, path) => {
  only(block, path, ['type', 'source', 'title', 'context', 'citations', 'cache_control']);
  const { source } = block;
  if (!isObject(source)) invalid(`${path}.source: Field required`);
  if (source.type !== 'base64') return;
  if (source.media_type !== 'application/pdf')
    invalid(`${path}.source.base64.media_type: Input should be 'application/pdf'`);
  checkBase64(source.data, `${path}.source.base64`);
};

function checkBase64(data: Json | undefined, path: string): void {
  if (
    typeof data !== 'string' ||
    data === '' ||
    !/^[A-Za-z0-9+/]+={0,2}$/.test(data) ||
    data.length % 4 !== 0
  ) {
    invalid(`${path}: invalid base64 data`);
  }
}

const toolResult: Check = (block, path) => {
  only(block, path, ['type', 'tool_use_id', 'content', 'is_error', 'cache_control', 'toolset_name']);
  if (typeof block.tool_use_id !== 'string') invalid(`${path}.tool_use_id: Field required`);
  if (block.is_error !== undefined && typeof block.is_error !== 'boolean')
    invalid(`${path}.is_error: Input should be a valid boolean`);
  const { content } = block;
  if (content === undefined || typeof content === 'string') return;
  if (!Array.isArray(content)) invalid(`${path}.content: Input should be a valid string or list`);
  for (const [index, inner] of content.entries()) {
    const check = isObject(inner)
      ? ({ text, image, document } as Record<string, Check>)[show(inner.type)]
      : undefined;
    if (check === undefined)
      invalid(`${path}.content.${index}: Input tag does not match any of the expected tags`);
    check(inner as JsonObject, `${path}.content.${index}.${show((inner as JsonObject).type)}`);
    if (block.is_error === true && (inner as JsonObject).type !== 'text') {
      invalid(`${path}: all content must be type "text" if "is_error" is true`);
    }
  }
};

const toolUse: Check = (block, path) => {
  only(block, path, ['type', 'id', 'name', 'input', 'caller', 'cache_control', 'toolset_name']);
  if (typeof block.id !== 'string' || !/^[a-zA-Z0-9_-]+$/.test(block.id))
    invalid(`${path}.id: String should match pattern '^[a-zA-Z0-9_-]+$'`);
  if (typeof block.name !== 'string' || block.name.length < 1)
    invalid(`${path}.name: String should have at least 1 character`);
  if (!isObject(block.input)) invalid(`${path}.input: Input should be a valid dictionary`);
};

const thinking: Check = (block, path) => {
  only(block, path, ['type', 'thinking', 'signature']);
  if (typeof block.signature !== 'string') invalid(`${path}.signature: Field required`);
  if (typeof block.thinking !== 'string') invalid(`${path}.thinking: Field required`);
};

const USER_BLOCKS: Record<string, Check> = { text, image, document, tool_result: toolResult };
const ASSISTANT_BLOCKS: Record<string, Check> = {
  text,
  thinking,
  tool_use: toolUse,
  redacted_thinking: (block, path) => only(block, path, ['type', 'data']),
  server_tool_use: (block, path) => only(block, path, ['type', 'id', 'name', 'input', 'caller']),
  ...CONNECTOR_BLOCKS,
  web_search_tool_result: (block, path) => only(block, path, ['type', 'tool_use_id', 'content', 'caller']),
};

/** Consecutive messages of one role count as one. */
function merged(messages: readonly JsonObject[]): { role: string; index: number; blocks: JsonObject[] }[] {
  const turns: { role: string; index: number; blocks: JsonObject[] }[] = [];
  for (const [index, message] of messages.entries()) {
    const last = turns.at(-1);
    if (last?.role === message.role) last?.blocks.push(...blocksOf(message));
    else turns.push({ role: show(message.role), index, blocks: [...blocksOf(message)] });
  }
  return turns;
}

function checkPairs(messages: readonly JsonObject[]): void {
  const turns = merged(messages);
  const known = new Set<string>();
  for (const [at, { role, index, blocks }] of turns.entries()) {
    const uses = role === 'assistant' ? idsOf(blocks, 'tool_use', 'id') : [];
    for (const id of uses) {
      if (known.has(id)) invalid(`messages.${index}: \`tool_use\` ids must be unique`);
      known.add(id);
    }
    const before = at === 0 ? [] : idsOf(turns[at - 1]?.blocks ?? [], 'tool_use', 'id');
    if (role === 'user') checkResults(blocks, index, before);
    const next = turns[at + 1];
    // Results count only at the very beginning of the next message.
    const leading = next?.blocks.slice(0, firstOther(next.blocks)) ?? [];
    const missing = uses.filter((id) => !idsOf(leading, 'tool_result', 'tool_use_id').includes(id));
    if (missing.length > 0) {
      invalid(
        `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
      );
    }
  }
}

function checkResults(blocks: readonly JsonObject[], index: number, expected: readonly string[]): void {
  const seen = new Set<string>();
  for (const [position, block] of blocks.entries()) {
    if (block.type !== 'tool_result') continue;
    const id = show(block.tool_use_id);
    if (!expected.includes(id)) {
      invalid(
        `messages.${index}.content.${position}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
      );
    }
    if (seen.has(id)) {
      invalid(
        `messages.${index}.content.${position}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`,
      );
    }
    seen.add(id);
  }
}

function firstOther(blocks: readonly JsonObject[]): number {
  const at = blocks.findIndex(({ type }) => type !== 'tool_result');
  return at === -1 ? blocks.length : at;
}

function idsOf(blocks: readonly JsonObject[], type: string, member: string): string[] {
  return blocks.filter((block) => block.type === type).map((block) => show(block[member]));
}

/** Current models do not go on with a given beginning of their answer, but for a turn that waits for a server tool. */
function checkEnd(messages: readonly JsonObject[]): void {
  const last = messages.at(-1);
  if (last?.role !== 'assistant') return;
  const blocks = blocksOf(last);
  const answered = ['web_search_tool_result', 'mcp_tool_result'].flatMap((type) =>
    idsOf(blocks, type, 'tool_use_id'),
  );
  const waiting = ['server_tool_use', 'mcp_tool_use'].flatMap((type) => idsOf(blocks, type, 'id'));
  if (waiting.some((id) => !answered.includes(id))) return;
  invalid(
    'This model does not support assistant message prefill. The conversation must end with a user message.',
  );
}

function checkThoughts(body: JsonObject, messages: readonly JsonObject[], ledger: Ledger): void {
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'assistant') continue;
    let thought = false;
    for (const [position, block] of blocksOf(message).entries()) {
      if (block.type === 'thinking') {
        thought = true;
        if (block.signature !== signatureAt(body, index, position)) {
          invalid(`messages.${index}.content.${position}: Invalid \`signature\` in \`thinking\` block`);
        }
      }
      if (block.type === 'tool_use' && !thought && ledger.thoughtBefore.has(show(block.id))) {
        invalid(
          `messages.${index}.content.${position}: \`thinking\` or \`redacted_thinking\` blocks that came before a \`tool_use\` block must be sent back unmodified`,
        );
      }
    }
  }
}
