/**
 * A provider's own MCP connector: the API is given a remote server's address, lists its tools and calls them itself.
 * What each one takes stands here as facts, so that nobody else needs to know the provider.
 */
import type { JsonObject, ToolResult } from '../types.ts';
import { asText } from './json.ts';

export interface Connector {
  /** Who connects, for people. */
  readonly provider: string;
  /** HTTP+SSE servers too, not only Streamable HTTP. */
  readonly sse: boolean;
  /** `http:` addresses too. */
  readonly plainHttp: boolean;
  /** `bearer`: nothing but a token in `Authorization`. */
  readonly headers: 'any' | 'bearer';
  /** It can ask before a call. */
  readonly approvals: boolean;
  /** It can leave tools out by name; without it, all tools but those are named instead. */
  readonly deny: boolean;
  /** What of a result reaches the model. */
  readonly results: string;
  /** Words of caution for one model. */
  caution?(model: string): string | undefined;
  /** A name that the API takes for the server with this label; two labels may give the same. */
  nameOf(label: string): string;
}

/** A server that the provider connects to itself, as a request names it. */
export interface RemoteServer {
  /** In the provider's form, and the only one with it in the request. */
  name: string;
  transport: 'http' | 'sse';
  url: string;
  headers: Readonly<Record<string, string>>;
  /** The server's own tool names that alone may be called; absent: all. */
  allowed?: readonly string[];
  /** Tool names that may not; never beside `allowed`, and only where the connector has `deny`. */
  denied?: readonly string[];
  approval: 'always' | 'never';
}

/** A call that the provider made through its connector: told and kept, never run here. */
export interface ServedCall {
  id: string;
  /** The server's name in the request; empty when the call itself stands in an earlier turn. */
  server: string;
  /** The server's own name of the tool. */
  tool: string;
  arguments: JsonObject;
  /** Absent while it runs. */
  result?: ToolResult;
  /** It never reached the tool, beside a tool that answered with an error. */
  failed?: boolean;
}

/** The provider waits for a person's word before it makes a call. */
export interface ApprovalRequest {
  id: string;
  server: string;
  tool: string;
  arguments: JsonObject;
  /** Why the arguments cannot be shown; then it cannot be approved. */
  problem?: string;
}

export interface ApprovalAnswer {
  /** Of the request. */
  id: string;
  approve: boolean;
  reason?: string;
}

/** The token of `Authorization: Bearer <token>`, and every other header. */
export function splitBearer(headers: Readonly<Record<string, string>>): {
  token: string | undefined;
  others: Record<string, string>;
} {
  let token: string | undefined;
  const others: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    const found = name.toLowerCase() === 'authorization' ? /^Bearer +(\S+)$/i.exec(value.trim()) : null;
    if (found === null) others[name] = value;
    else token = found[1];
  }
  return { token, others };
}

/** Calls with the results that came for them; a result without its call keeps its id, for a call of an earlier turn. */
export function withResults(
  calls: readonly ServedCall[],
  results: readonly { id: string; result: ToolResult }[],
): ServedCall[] {
  const resultOf = new Map(results.map(({ id, result }) => [id, result]));
  const paired = calls.map((call): ServedCall => {
    const result = resultOf.get(call.id);
    resultOf.delete(call.id);
    return result === undefined ? call : { ...call, result };
  });
  const late = [...resultOf].map(([id, result]): ServedCall => ({
    id,
    server: '',
    tool: '',
    arguments: {},
    result,
  }));
  return [...late, ...paired];
}

export function textResult(text: string, isError: boolean): ToolResult {
  return { content: text === '' ? [] : [{ type: 'text', text }], ...(isError && { isError }) };
}

/** Members for a message, or nothing when there were no calls of a connector in its turn. */
export function servedMembers(
  served: readonly ServedCall[],
  approvals: readonly ApprovalRequest[] = [],
): { served?: ServedCall[]; approvals?: ApprovalRequest[] } {
  return {
    ...(served.length > 0 && { served: [...served] }),
    ...(approvals.length > 0 && { approvals: [...approvals] }),
  };
}

/** The text of an error in any of the shapes that APIs give it. */
export function errorText(error: JsonObject | undefined, plain: unknown): string {
  return error === undefined ? asText(plain) : asText(error['message']) || JSON.stringify(error);
}
