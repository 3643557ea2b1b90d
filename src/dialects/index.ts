/**
 * `midspan/dialects`: MCP tools to each model API's function calling and back, for use with a loop of one's own.
 * Pure: no network, no SDK, no Node module.
 */
import { MidspanError } from '../errors.ts';
import type { JsonObject, ToolDefinition, ToolResult } from '../types.ts';
import { anthropic } from './anthropic.ts';
import type { Call, CallResult, Compiled, Dialect, DialectId, ExposedTool } from './dialect.ts';
import { gemini } from './gemini.ts';
import { geminiInteractions } from './gemini-interactions.ts';
import { openaiChat } from './openai-chat.ts';
import { openaiResponses } from './openai-responses.ts';

export type * from './dialect.ts';
export { MidspanError } from '../errors.ts';
export { estimateTokens } from './tokens.ts';
export { anthropic, gemini, geminiInteractions, openaiChat, openaiResponses };

const dialects: Record<DialectId, Dialect> = {
  anthropic,
  'openai-responses': openaiResponses,
  'openai-chat': openaiChat,
  gemini,
  'gemini-interactions': geminiInteractions,
};

/** @throws MidspanError `usage` for an id that no dialect has. */
export function dialectOf(id: DialectId): Dialect {
  if (Object.hasOwn(dialects, id)) return dialects[id];
  const known = Object.keys(dialects).join(', ');
  throw new MidspanError({ code: 'usage', what: `there is no dialect ${id}`, next: `Use one of ${known}` });
}

/**
 * Tools as an MCP server listed them (`tools/list`), under their own names. With several servers the names may collide
 * or be refused by an API: give each tool a name of your own then.
 */
export function ownNames(tools: readonly { name: string; inputSchema: object }[]): ExposedTool[] {
  return tools.map((tool) => ({ name: tool.name, definition: tool as ToolDefinition }));
}

/** The parameters of MCP `tools/call` for a call that a model made, with the arguments as the server's schema has them. */
export function callParams(call: Call, tools: Compiled): { name: string; arguments: JsonObject } {
  return { name: call.name, arguments: tools.restore(call.name, call.arguments) };
}

/** What an MCP client got for a call (`CallToolResult`), beside that call, as `results` and messages take it. */
export function callResult(call: Call, result: { content: readonly { type: string }[] }): CallResult {
  return { call, result: result as ToolResult };
}
