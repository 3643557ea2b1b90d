/** OpenAI Responses' MCP connector, emulated: what it refuses, its lists, calls and approvals. */
import { messageOf } from '../../src/errors.ts';
import type { Json, JsonObject } from '../../src/types.ts';
import { callTool, type ConnectorServer, type ListedTool, listTools, textOf } from './connector.ts';
import { onlyKnown, refuse } from './openai.ts';
import { type EmulatorTurn, isObject, Refusal, show } from './server.ts';

const MEMBERS = [
  'type',
  'server_label',
  'server_url',
  'connector_id',
  'tunnel_id',
  'server_description',
  'authorization',
  'headers',
  'allowed_tools',
  'require_approval',
  'defer_loading',
  'allowed_callers',
];

/** @returns its label. */
export function checkMcpTool(tool: JsonObject, path: string, labels: readonly string[]): string {
  onlyKnown(tool, path, MEMBERS);
  const { server_label: label, server_url: url, headers, allowed_tools: allowed } = tool;
  if (typeof label !== 'string' || label === '')
    return refuse(
      `Missing required parameter: '${path}.server_label'.`,
      'missing_required_parameter',
      `${path}.server_label`,
    );
  if (!/^[a-zA-Z][a-zA-Z0-9_-]*$/.test(label))
    refuse(`Invalid '${path}.server_label': '${label}'.`, 'invalid_value', `${path}.server_label`);
  if (labels.includes(label))
    refuse(`Duplicate MCP server_label '${label}' in 'tools'.`, 'invalid_value', `${path}.server_label`);
  if (typeof url !== 'string' || !/^https?:/.test(url))
    refuse(
      `One of 'server_url', 'connector_id' or 'tunnel_id' must be provided in '${path}'.`,
      'missing_required_parameter',
      `${path}.server_url`,
    );
  if (
    headers !== undefined &&
    !(isObject(headers) && Object.values(headers).every((value) => typeof value === 'string'))
  )
    refuse(`Invalid type for '${path}.headers'.`, 'invalid_type', `${path}.headers`);
  if (
    tool.authorization !== undefined &&
    isObject(headers) &&
    Object.keys(headers).some((name) => name.toLowerCase() === 'authorization')
  )
    refuse(
      "Cannot specify both 'authorization' and an Authorization header.",
      'invalid_value',
      `${path}.authorization`,
    );
  if (allowed !== undefined && !(Array.isArray(allowed) && allowed.every((name) => typeof name === 'string')))
    refuse(`Invalid type for '${path}.allowed_tools'.`, 'invalid_type', `${path}.allowed_tools`);
  if (!['always', 'never', undefined].includes(tool.require_approval as string | undefined))
    refuse(`Invalid value: '${show(tool.require_approval)}'.`, 'invalid_value', `${path}.require_approval`);
  return label;
}

export interface McpLedger {
  /** Approval requests that were made, by id. */
  requests: Map<string, JsonObject>;
}

/** Items of the connector as they come back: unchanged, and every request for approval answered once. */
export function checkMcpItems(items: readonly JsonObject[], ledger: McpLedger): void {
  const open = new Map<string, JsonObject>();
  for (const [index, item] of items.entries()) {
    if (item.type === 'mcp_approval_request') {
      if (JSON.stringify(ledger.requests.get(show(item.id))) !== JSON.stringify(item))
        refuse(`Approval request '${show(item.id)}' is not one of this conversation.`, null, 'input');
      open.set(show(item.id), item);
    }
    if (item.type !== 'mcp_approval_response') continue;
    onlyKnown(item, `input[${index}]`, ['type', 'id', 'approval_request_id', 'approve', 'reason']);
    if (typeof item.approve !== 'boolean')
      refuse(`Invalid type for 'input[${index}].approve'.`, 'invalid_type', `input[${index}].approve`);
    if (!open.delete(show(item.approval_request_id)))
      refuse(
        `No approval request found for approval response with approval_request_id ${show(item.approval_request_id)}.`,
        null,
        'input',
      );
  }
  const [missing] = open.keys();
  if (missing !== undefined)
    refuse(`No approval response found for approval request ${missing}.`, null, 'input');
}

/** What the connector adds to the answer: lists that are not there yet, approved calls, and the calls of this turn. */
export async function mcpItems(
  turn: EmulatorTurn,
  body: JsonObject,
  index: number,
  ledger: McpLedger,
): Promise<JsonObject[]> {
  const tools = objects(body.tools).filter(({ type }) => type === 'mcp');
  const input = objects(body.input);
  const items: JsonObject[] = [];
  const listings = new Map<string, string[]>();
  for (const tool of tools) {
    const label = show(tool.server_label);
    const known = input.find((item) => item.type === 'mcp_list_tools' && item.server_label === label);
    const list = known ?? (await listing(tool, turn));
    if (known === undefined) items.push({ ...list, id: `mcpl_${index}_${label}` });
    listings.set(
      label,
      objects(list.tools).map(({ name }) => show(name)),
    );
  }
  for (const response of answersAtTheEnd(input)) {
    const request = ledger.requests.get(show(response.approval_request_id)) as JsonObject;
    if (response.approve !== true) continue;
    const tool = tools.find(({ server_label: label }) => label === request.server_label) as JsonObject;
    items.push(
      await called(tool, show(request.name), show(request.arguments), {
        id: `mcp_${index}_${show(request.id)}`,
        approval_request_id: request.id,
      }),
    );
  }
  for (const [position, call] of (turn.mcp ?? []).entries()) {
    const tool = tools.find(({ server_label: label }) => label === call.server);
    if (tool === undefined || listings.get(call.server)?.includes(call.tool) !== true)
      throw new Error(`The script calls ${call.tool} of ${call.server}, which the request does not have`);
    const args = typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments ?? {});
    if (tool.require_approval === 'never')
      items.push(
        await called(tool, call.tool, args, { id: `mcp_${index}_${position}`, approval_request_id: null }),
      );
    else {
      const request: JsonObject = {
        type: 'mcp_approval_request',
        id: `mcpr_${index}_${position}`,
        server_label: call.server,
        name: call.tool,
        arguments: args,
      };
      ledger.requests.set(show(request.id), request);
      items.push(request);
    }
  }
  return items;
}

/** Only what came after the model's last item is new, and run. */
function answersAtTheEnd(input: readonly JsonObject[]): JsonObject[] {
  const last = input.findLastIndex(
    ({ type, role }) =>
      type !== 'mcp_approval_response' && type !== 'function_call_output' && role !== 'user',
  );
  return input.slice(last + 1).filter(({ type }) => type === 'mcp_approval_response');
}

async function listing(tool: JsonObject, turn: EmulatorTurn): Promise<JsonObject> {
  const label = show(tool.server_label);
  const list = { type: 'mcp_list_tools', server_label: label };
  try {
    const allowed = tool.allowed_tools;
    const listed = (await listTools(serverOf(tool))).filter(
      ({ name }) => !Array.isArray(allowed) || allowed.includes(name),
    );
    return { ...list, tools: listed.map(toolOf), error: null };
  } catch (error) {
    if (turn.listErrors === true) return { ...list, tools: [], error: messageOf(error) };
    throw new Refusal(
      424,
      'external_connector_error',
      `Error retrieving tool list from MCP server: '${label}'. Http status code: 424 (Failed Dependency). ${messageOf(error)}`,
      { param: 'tools', code: 'http_error' },
    );
  }
}

const toolOf = ({ name, description, inputSchema, annotations }: ListedTool): JsonObject => ({
  name,
  description: description ?? null,
  input_schema: inputSchema,
  annotations: annotations ?? null,
});

async function called(tool: JsonObject, name: string, args: string, more: JsonObject): Promise<JsonObject> {
  const item = { type: 'mcp_call', ...more, server_label: tool.server_label, name, arguments: args };
  try {
    const { content, isError } = await callTool(serverOf(tool), name, JSON.parse(args) as JsonObject);
    const text = textOf(content);
    return isError
      ? {
          ...item,
          status: 'failed',
          output: null,
          error: { type: 'mcp_tool_execution_error', content: [{ type: 'text', text }] },
        }
      : { ...item, status: 'completed', output: text, error: null };
  } catch (error) {
    const failure = { type: 'mcp_protocol_error', code: -32000, message: messageOf(error) };
    return { ...item, status: 'failed', output: null, error: failure };
  }
}

function serverOf(tool: JsonObject): ConnectorServer {
  const token = tool.authorization;
  return {
    name: show(tool.server_label),
    url: show(tool.server_url),
    headers: {
      ...(tool.headers as Record<string, string> | undefined),
      ...(typeof token === 'string' && { authorization: `Bearer ${token}` }),
    },
  };
}

/** Events of the connector's items between their `added` and `done`. */
export function mcpEvents(item: JsonObject, place: { item_id: string; output_index: number }): JsonObject[] {
  if (item.type === 'mcp_list_tools') {
    return [
      { type: 'response.mcp_list_tools.in_progress', ...place },
      { type: `response.mcp_list_tools.${item.error === null ? 'completed' : 'failed'}`, ...place },
    ];
  }
  const args = show(item.arguments);
  return [
    { type: 'response.mcp_call.in_progress', ...place },
    { type: 'response.mcp_call_arguments.delta', ...place, delta: args },
    { type: 'response.mcp_call_arguments.done', ...place, arguments: args },
    { type: `response.mcp_call.${item.error === null ? 'completed' : 'failed'}`, ...place },
  ];
}

function objects(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
