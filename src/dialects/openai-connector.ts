/** OpenAI Responses' connector: tools of `type: "mcp"`, and the items of their lists, calls and approvals. */
import type { JsonObject } from '../types.ts';
import { readArguments } from './calls.ts';
import {
  type ApprovalAnswer,
  type ApprovalRequest,
  type Connector,
  errorText,
  type RemoteServer,
  type ServedCall,
  splitBearer,
  textResult,
} from './connector.ts';
import { asObject, asObjects, asText } from './json.ts';
import { oneLine } from './text.ts';

export const openaiConnector: Connector = {
  provider: 'OpenAI',
  sse: true,
  plainHttp: true,
  headers: 'any',
  approvals: true,
  deny: false,
  results: 'results as one text',
  nameOf: (label) =>
    label
      .replaceAll(/[^a-zA-Z0-9_-]+/g, '_')
      .replace(/^(?![a-zA-Z])/, 'mcp_')
      .slice(0, 64),
};

export function mcpTools(servers: readonly RemoteServer[]): JsonObject[] {
  return servers.map(({ name, url, headers, allowed, approval }) => {
    const { token, others } = splitBearer(headers);
    return {
      type: 'mcp',
      server_label: name,
      server_url: url,
      ...(token === undefined ? {} : { authorization: token }),
      ...(Object.keys(others).length === 0 ? {} : { headers: others }),
      ...(allowed === undefined ? {} : { allowed_tools: [...allowed] }),
      require_approval: approval,
    };
  });
}

/** One finished item as a call; undefined when it is none. */
export function servedCall(item: JsonObject): ServedCall | undefined {
  if (item['type'] !== 'mcp_call') return undefined;
  const call = {
    id: asText(item['id']),
    server: asText(item['server_label']),
    tool: asText(item['name']),
    arguments: readArguments(item['arguments']).arguments,
  };
  const error = item['error'];
  if (error !== undefined && error !== null) {
    const said = asObject(error);
    const content = said?.['content'];
    const text = Array.isArray(content)
      ? asObjects(content)
          .map((block) => asText(block['text']))
          .join('\n\n')
      : asText(content) || errorText(said, error);
    const answered = said?.['type'] === 'mcp_tool_execution_error';
    return { ...call, result: textResult(text, true), ...(answered ? {} : { failed: true }) };
  }
  if (['in_progress', 'calling', 'incomplete'].includes(asText(item['status']))) return call;
  return { ...call, result: textResult(asText(item['output']), item['status'] === 'failed') };
}

export function approvalRequests(items: readonly JsonObject[]): ApprovalRequest[] {
  return items.flatMap((item) => {
    if (item['type'] !== 'mcp_approval_request') return [];
    const read = readArguments(item['arguments']);
    return [
      {
        id: asText(item['id']),
        server: asText(item['server_label']),
        tool: asText(item['name']),
        ...read,
      },
    ];
  });
}

/** Servers whose tools could not be listed: the model answered without them. */
export function listFailures(items: readonly JsonObject[]): string[] {
  return items.flatMap((item) => {
    const error = item['error'];
    if (item['type'] !== 'mcp_list_tools' || error === undefined || error === null) return [];
    const reason = oneLine(errorText(asObject(error), error));
    return [`OpenAI could not list the tools of ${oneLine(asText(item['server_label']), 100)}: ${reason}`];
  });
}

export function approvalResponses(answers: readonly ApprovalAnswer[]): JsonObject[] {
  return answers.map(({ id, approve, reason }) => ({
    type: 'mcp_approval_response',
    approval_request_id: id,
    approve,
    ...(reason === undefined ? {} : { reason }),
  }));
}
