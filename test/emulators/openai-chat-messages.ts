/** What Chat Completions refuses of a conversation. */
import type { Json, JsonObject } from '../../src/types.ts';
import { onlyKnown, refuse } from './openai.ts';
import { isObject, show } from './server.ts';

const MEMBERS: Record<string, readonly string[]> = {
  system: ['role', 'content', 'name'],
  developer: ['role', 'content', 'name'],
  user: ['role', 'content', 'name'],
  assistant: ['role', 'content', 'name', 'tool_calls', 'refusal', 'audio', 'annotations'],
  tool: ['role', 'content', 'tool_call_id'],
};
const PARTS: Record<string, readonly string[]> = {
  system: ['text'],
  developer: ['text'],
  user: ['text', 'image_url', 'input_audio', 'file'],
  assistant: ['text', 'refusal'],
  tool: ['text'],
};

export function checkChatMessages({ messages }: JsonObject, takesReasoning: boolean): void {
  if (!Array.isArray(messages))
    refuse("Missing required parameter: 'messages'.", 'missing_required_parameter', 'messages');
  if (messages.length === 0) {
    refuse(
      "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
      'empty_array',
      'messages',
    );
  }
  let open: string[] = [];
  let answerable = false;
  for (const [index, message] of messages.entries()) {
    const path = `messages[${index}]`;
    if (!isObject(message)) refuse(`Invalid type for '${path}': expected an object.`, 'invalid_type', path);
    const role = show(message.role);
    const members = MEMBERS[role];
    if (members === undefined) refuse(`Invalid value: '${role}'.`, 'invalid_value', `${path}.role`);
    onlyKnown(
      message,
      path,
      role === 'assistant' && takesReasoning ? [...members, 'reasoning_content'] : members,
    );
    checkContent(message, role, path);
    if (role === 'tool') {
      const id = show(message.tool_call_id);
      if (!answerable)
        refuse(
          "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
          null,
          `${path}.role`,
        );
      if (!open.includes(id))
        refuse(
          `Invalid parameter: 'tool_call_id' of '${id}' not found in 'tool_calls' of previous message.`,
          null,
          `${path}.tool_call_id`,
        );
      open = open.filter((each) => each !== id);
      continue;
    }
    checkAnswered(open, path);
    open = role === 'assistant' ? checkCalls(message.tool_calls, path) : [];
    answerable = open.length > 0;
  }
  checkAnswered(open, `messages[${messages.length}]`);
}

function checkAnswered(open: readonly string[], path: string): void {
  if (open.length > 0) {
    refuse(
      `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${open.join(', ')}`,
      null,
      path,
    );
  }
}

function checkContent({ content, tool_calls: calls }: JsonObject, role: string, path: string): void {
  if (content === null || content === undefined) {
    if (role === 'assistant' && calls !== undefined) return;
    refuse(`Invalid value for 'content': expected a string, got null.`, null, `${path}.content`);
  }
  if (typeof content === 'string') return;
  if (!Array.isArray(content))
    return refuse(
      `Invalid type for '${path}.content': expected one of a string or array of objects, but got an object instead.`,
      'invalid_type',
      `${path}.content`,
    );
  for (const [index, part] of content.entries()) {
    const type = isObject(part) ? show(part.type) : 'nothing';
    if (PARTS[role]?.includes(type) !== true) {
      refuse(
        `Invalid value: '${type}'. Supported values are: ${PARTS[role]?.map((one) => `'${one}'`).join(', ')}.`,
        'invalid_value',
        `${path}.content[${index}].type`,
      );
    }
  }
}

/** @returns the ids that must be answered. */
function checkCalls(calls: Json | undefined, path: string): string[] {
  if (calls === undefined) return [];
  if (!Array.isArray(calls) || calls.length === 0)
    return refuse(
      `Invalid '${path}.tool_calls': empty array. Expected an array with minimum length 1.`,
      'empty_array',
      `${path}.tool_calls`,
    );
  const ids = calls.map((call, index) => {
    const where = `${path}.tool_calls[${index}]`;
    if (!isObject(call) || !isObject(call.function))
      return refuse(`Missing required parameter: '${where}.function'.`, 'missing_required_parameter', where);
    onlyKnown(call, where, ['id', 'type', 'function']);
    onlyKnown(call.function, `${where}.function`, ['name', 'arguments']);
    if (typeof call.id !== 'string' || call.id === '')
      refuse(`Missing required parameter: '${where}.id'.`, 'missing_required_parameter', where);
    // As Ollama does: what a server cannot read as an object, it does not put into its template.
    if (typeof call.function.arguments !== 'string' || !isObject(parsed(call.function.arguments))) {
      refuse(
        `Invalid '${where}.function.arguments': expected the JSON text of an object.`,
        'invalid_value',
        where,
      );
    }
    return call.id;
  });
  if (new Set(ids).size < ids.length)
    refuse(`Duplicate value for 'tool_call_id' in '${path}.tool_calls'.`, null, path);
  return ids;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
