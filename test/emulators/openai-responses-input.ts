/** What OpenAI Responses refuses of a conversation: its items, and how calls, outputs and reasoning belong together. */
import type { Json, JsonObject } from '../../src/types.ts';
import { checkMcpItems, type McpLedger } from './openai-responses-mcp.ts';
import { checkName, onlyKnown, refuse } from './openai.ts';
import { isObject, Refusal, show } from './server.ts';

export interface Ledger extends McpLedger {
  /** What each reasoning item holds, by its id. */
  encrypted: Map<string, string>;
  /** The item that came right after a reasoning item. */
  follower: Map<string, string>;
  /** Items that were made after reasoning, and that are only accepted back with it. */
  needs: Map<string, { type: string; reasoning: string }>;
}

export function newLedger(): Ledger {
  return { encrypted: new Map(), follower: new Map(), needs: new Map(), requests: new Map() };
}

const MOST_TEXT = 10 * 1024 * 1024;
const MOST_IMAGE = 20 * 1024 * 1024;

export function checkInput(body: JsonObject, ledger: Ledger): void {
  const { input } = body;
  if (typeof input === 'string') return;
  if (input === undefined) {
    return refuse(
      'One of "input" or "previous_response_id" or \'prompt\' or \'conversation\' must be provided.',
      'missing_required_parameter',
    );
  }
  if (!Array.isArray(input))
    return refuse("Invalid type for 'input': expected one of a string or array.", 'invalid_type', 'input');
  for (const [index, item] of input.entries()) {
    if (!isObject(item))
      return refuse(
        `Invalid type for 'input[${index}]': expected an object.`,
        'invalid_type',
        `input[${index}]`,
      );
    checkItem(item, `input[${index}]`);
  }
  const items = input as JsonObject[];
  checkIds(items);
  checkPairs(items);
  checkNamespaces(items, body.tools);
  checkMcpItems(items, ledger);
  checkReasoning(items, body.store !== false, ledger);
}

/** A call of a function that stands in a namespace comes back with it. */
function checkNamespaces(items: readonly JsonObject[], tools: Json | undefined): void {
  const homes = new Map<Json | undefined, Json | undefined>();
  for (const tool of Array.isArray(tools) ? tools.filter(isObject) : []) {
    if (tool.type !== 'namespace' || !Array.isArray(tool.tools)) continue;
    for (const inner of tool.tools.filter(isObject)) homes.set(inner.name, tool.name);
  }
  for (const [index, item] of items.entries()) {
    const home = homes.get(item.name);
    if (item.type !== 'function_call' || home === undefined || item.namespace === home) continue;
    refuse(
      `Missing namespace for function_call '${show(item.name)}'. It does not exist in the default namespace. Round-trip the model's function_call item with its namespace field included.`,
      'invalid_value',
      `input[${index}].namespace`,
    );
  }
}

function checkItem(item: JsonObject, path: string): void {
  const type = item.type ?? (item.role === undefined ? undefined : 'message');
  switch (type) {
    case 'message':
      return checkMessage(item, path);
    case 'function_call':
      onlyKnown(item, path, ['type', 'id', 'call_id', 'name', 'arguments', 'status', 'namespace', 'caller']);
      checkId(item.id, 'fc', path);
      checkCallId(item.call_id, path);
      checkName(item.name, `${path}.name`);
      if (typeof item.arguments !== 'string') {
        refuse(
          `Invalid type for '${path}.arguments': expected a string, but got ${item.arguments === undefined ? 'nothing' : 'an object'} instead.`,
          'invalid_type',
          `${path}.arguments`,
        );
      }
      return;
    case 'function_call_output':
      onlyKnown(item, path, ['type', 'id', 'call_id', 'output', 'status', 'name', 'namespace', 'caller']);
      checkId(item.id, 'fc', path);
      checkCallId(item.call_id, path);
      return checkOutput(item.output, `${path}.output`);
    case 'reasoning':
      onlyKnown(item, path, ['type', 'id', 'summary', 'content', 'encrypted_content', 'status']);
      checkId(item.id, 'rs', path);
      if (!Array.isArray(item.summary))
        refuse(
          `Missing required parameter: '${path}.summary'.`,
          'missing_required_parameter',
          `${path}.summary`,
        );
      return;
    case 'mcp_list_tools':
      onlyKnown(item, path, ['type', 'id', 'server_label', 'tools', 'error']);
      return checkId(item.id, 'mcpl_', path);
    case 'mcp_call':
      onlyKnown(item, path, [
        'type',
        'id',
        'server_label',
        'name',
        'arguments',
        'output',
        'error',
        'status',
        'approval_request_id',
      ]);
      return checkId(item.id, 'mcp_', path);
    case 'mcp_approval_request':
      onlyKnown(item, path, ['type', 'id', 'server_label', 'name', 'arguments']);
      return checkId(item.id, 'mcpr_', path);
    case 'mcp_approval_response':
      return; // with its request, below
    default:
      refuse(`Invalid value: '${show(type)}'.`, 'invalid_value', `${path}.type`);
  }
}

function checkMessage(item: JsonObject, path: string): void {
  onlyKnown(item, path, ['type', 'id', 'role', 'content', 'status', 'phase']);
  if (item.id !== undefined) checkId(item.id, 'msg', path);
  const { role, content } = item;
  if (!['user', 'assistant', 'system', 'developer'].includes(show(role))) {
    refuse(
      `Invalid value: '${show(role)}'. Supported values are: 'assistant', 'system', 'developer', and 'user'.`,
      'invalid_value',
      `${path}.role`,
    );
  }
  if (typeof content === 'string') return;
  if (!Array.isArray(content))
    return refuse(
      `Invalid type for '${path}.content': expected one of an array of objects or string.`,
      'invalid_type',
      `${path}.content`,
    );
  const known =
    role === 'assistant' ? ['output_text', 'refusal'] : ['input_text', 'input_image', 'input_file'];
  for (const [index, part] of content.entries()) checkPart(part, `${path}.content[${index}]`, known);
}

function checkOutput(output: Json | undefined, path: string): void {
  if (output === undefined)
    return refuse(`Missing required parameter: '${path}'.`, 'missing_required_parameter', path);
  if (typeof output === 'string') return checkLength(output, MOST_TEXT, path);
  if (!Array.isArray(output))
    return refuse(
      `Invalid type for '${path}': expected one of an array of objects or string, but got an object instead.`,
      'invalid_type',
      path,
    );
  for (const [index, part] of output.entries())
    checkPart(part, `${path}[${index}]`, ['input_text', 'input_image', 'input_file']);
}

function checkPart(part: Json, path: string, known: readonly string[]): void {
  if (!isObject(part)) return refuse(`Invalid type for '${path}': expected an object.`, 'invalid_type', path);
  if (!known.includes(show(part.type))) {
    refuse(
      `Invalid value: '${show(part.type)}'. Supported values are: ${known.map((one) => `'${one}'`).join(', ')}.`,
      'invalid_value',
      `${path}.type`,
    );
  }
  if (part.type === 'input_text' || part.type === 'output_text') {
    if (typeof part.text !== 'string')
      return refuse(
        `Missing required parameter: '${path}.text'.`,
        'missing_required_parameter',
        `${path}.text`,
      );
    checkLength(part.text, MOST_TEXT, `${path}.text`);
  }
  if (part.type === 'input_image') {
    onlyKnown(part, path, ['type', 'image_url', 'file_id', 'detail']);
    const address = show(part.image_url);
    checkLength(address, MOST_IMAGE, `${path}.image_url`);
    if (
      !/^https?:/.test(address) &&
      !/^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}$/.test(address)
    ) {
      refuse(
        `Invalid '${path}.image_url'. Expected a base64-encoded data URL with an image MIME type (e.g. 'data:image/png;base64,aW1nIGJ5dGVzIGhlcmU='), but got unsupported MIME type or empty data.`,
        'invalid_value',
        `${path}.image_url`,
      );
    }
  }
  if (part.type === 'input_file')
    onlyKnown(part, path, ['type', 'filename', 'file_data', 'file_id', 'file_url', 'detail']);
}

function checkLength(text: string, most: number, path: string): void {
  if (text.length > most) {
    refuse(
      `Invalid '${path}': string too long. Expected a string with maximum length ${most}, but got a string with length ${text.length} instead.`,
      'string_above_max_length',
      path,
    );
  }
}

function checkId(id: Json | undefined, prefix: string, path: string): void {
  if (id === undefined || id === null) return;
  if (typeof id !== 'string' || !id.startsWith(prefix)) {
    refuse(
      `Invalid '${path}.id': '${show(id)}'. Expected an ID that begins with '${prefix}'.`,
      'invalid_value',
      `${path}.id`,
    );
  }
}

function checkCallId(id: Json | undefined, path: string): void {
  if (id === undefined)
    return refuse(
      `Missing required parameter: '${path}.call_id'.`,
      'missing_required_parameter',
      `${path}.call_id`,
    );
  if (typeof id !== 'string' || id === '')
    return refuse(`Invalid '${path}.call_id': empty string.`, 'empty_string', `${path}.call_id`);
  checkLength(id, 64, `${path}.call_id`);
}

function checkIds(items: readonly JsonObject[]): void {
  const seen = new Set<string>();
  for (const { id } of items) {
    if (typeof id !== 'string') continue;
    if (seen.has(id))
      refuse(
        `Duplicate item found with id ${id}. Remove duplicate items from your input and try again.`,
        null,
        'input',
      );
    seen.add(id);
  }
}

function checkPairs(items: readonly JsonObject[]): void {
  const open = new Set<string>();
  const called = new Set<string>();
  for (const item of items) {
    const id = show(item.call_id);
    if (item.type === 'function_call') {
      if (called.has(id)) refuse(`Duplicate function call with call_id ${id}.`, null, 'input');
      called.add(id);
      open.add(id);
    }
    if (item.type === 'function_call_output' && !open.delete(id)) {
      refuse(`No tool call found for function call output with call_id ${id}.`, null, 'input');
    }
  }
  const [missing] = open;
  if (missing !== undefined) refuse(`No tool output found for function call ${missing}.`, null, 'input');
}

function checkReasoning(items: readonly JsonObject[], stored: boolean, ledger: Ledger): void {
  const before = new Set<string>();
  for (const [index, item] of items.entries()) {
    const id = show(item.id);
    if (item.type === 'reasoning') {
      before.add(id);
      const encrypted = ledger.encrypted.get(id);
      const given = item.encrypted_content;
      if (!stored && (given === undefined || given === null)) {
        throw new Refusal(
          404,
          'invalid_request_error',
          `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
        );
      }
      if (given !== undefined && given !== null && given !== encrypted) {
        refuse(`The encrypted content for item ${id} could not be verified.`, 'invalid_encrypted_content');
      }
      if (show(items[index + 1]?.id) !== ledger.follower.get(id)) {
        refuse(
          `Item '${id}' of type 'reasoning' was provided without its required following item.`,
          null,
          'input',
        );
      }
    }
    const need = ledger.needs.get(id);
    if (need !== undefined && !before.has(need.reasoning)) {
      refuse(
        `Item '${id}' of type '${need.type}' was provided without its required 'reasoning' item: '${need.reasoning}'.`,
        null,
        'input',
      );
    }
  }
}
