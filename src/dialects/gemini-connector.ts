/** Gemini Interactions' connector: tools of `type: "mcp_server"`, and the steps of its calls. */
import type { ContentBlock, Json, JsonObject, ToolResult } from '../types.ts';
import { readArguments } from './calls.ts';
import { type Connector, type RemoteServer, type ServedCall, withResults } from './connector.ts';
import { asObject, asObjects, asText } from './json.ts';

export const geminiConnector: Connector = {
  provider: 'Google',
  sse: false,
  plainHttp: true,
  headers: 'any',
  approvals: false,
  deny: false,
  results: 'results without the mark of an error',
  // Gemini 3 was not served at first; whether it is now is for the API to say.
  caution: (model) =>
    model.startsWith('gemini-3')
      ? `the Interactions API first had no connector for ${model}; if it refuses the request, leave the server to the host`
      : undefined,
  // Hyphens are refused, and agents want lower case.
  nameOf: (label) =>
    label
      .toLowerCase()
      .replaceAll(/[^a-z0-9_]+/g, '_')
      .replace(/^(?![a-z])/, 'mcp_')
      .slice(0, 60),
};

export function serverTools(servers: readonly RemoteServer[]): JsonObject[] {
  return servers.map(({ name, url, headers, allowed }) => ({
    type: 'mcp_server',
    name,
    url,
    ...(Object.keys(headers).length === 0 ? {} : { headers: { ...headers } }),
    ...(allowed === undefined ? {} : { allowed_tools: [{ mode: 'auto', tools: [...allowed] }] }),
  }));
}

/** The calls among the steps of a turn, with their results. */
export function servedCalls(steps: readonly JsonObject[]): ServedCall[] {
  const calls = steps.flatMap((step) => {
    if (step['type'] !== 'mcp_server_tool_call') return [];
    return [
      {
        id: asText(step['id']),
        server: asText(step['server_name']),
        tool: asText(step['name']),
        arguments: readArguments(step['arguments']).arguments,
      },
    ];
  });
  const results = steps.flatMap((step) =>
    step['type'] === 'mcp_server_tool_result'
      ? [{ id: asText(step['call_id']), result: resultOf(step['result']) }]
      : [],
  );
  return withResults(calls, results);
}

function resultOf(result: Json | undefined): ToolResult {
  if (typeof result === 'string') return { content: result === '' ? [] : [{ type: 'text', text: result }] };
  if (Array.isArray(result)) return { content: asObjects(result).map(blockOf) };
  const object = asObject(result);
  if (object === undefined) return { content: [] };
  return { content: [{ type: 'text', text: JSON.stringify(object) }], structuredContent: object };
}

function blockOf(content: JsonObject): ContentBlock {
  const type = asText(content['type']);
  if (type === 'text') return { type, text: asText(content['text']) };
  if (type !== 'image' && type !== 'audio') return { ...content, type };
  return { type, data: asText(content['data']), mimeType: asText(content['mime_type']) };
}
