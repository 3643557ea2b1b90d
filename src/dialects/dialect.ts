/**
 * A dialect is one provider API's function-calling shapes: definitions out, calls in, results back, losses reported.
 * Each is one pure file. Nothing outside dialects/ and models/ knows a provider's member names.
 */
import type { ContentBlock, Json, JsonObject, ToolDefinition, ToolResult } from '../types.ts';
import type { ApprovalAnswer, ApprovalRequest, Connector, RemoteServer, ServedCall } from './connector.ts';

export type DialectId = 'anthropic' | 'openai-responses' | 'openai-chat' | 'gemini' | 'gemini-interactions';

/** A tool under the name that the model sees. */
export interface ExposedTool {
  name: string;
  /** What is made of its schema is remembered for as long as the schema lives, so it must not be changed. */
  definition: ToolDefinition;
  /** Ask for the API's schema-enforced mode; falls back, with a reason in the report. Default false. */
  strict?: boolean;
}

export interface CompileEntry {
  name: string;
  status: 'exact' | 'adapted' | 'left out';
  /** What changed or why it was left out, in words. */
  changes: string[];
  /** Estimated tokens of the definition in this dialect; 0 when left out. */
  tokens: number;
  /** Property renames, as in Lowered.renamed. */
  renamed: Record<string, string>;
}

/** A list of tools compiled for one dialect. Same input, same bytes. */
export interface Compiled {
  dialect: DialectId;
  /** Ready for the request's `tools` member, in the order given; some APIs group all functions in one entry. */
  tools: JsonObject[];
  /** One entry per tool given, in the order given. */
  report: CompileEntry[];
  /** Arguments as the model sent them to arguments for the original schema. Unknown names pass through. */
  restore(name: string, args: JsonObject): JsonObject;
}

/** A call as a model made it. */
export interface Call {
  /** The provider's id, or one we minted when it gave none. */
  id: string;
  name: string;
  arguments: JsonObject;
  /** Why the arguments could not be read (broken JSON, not an object); then `arguments` is empty and the call is answered, not run. */
  problem?: string;
}

export type Choice =
  | 'auto'
  | 'required'
  | 'none'
  /** Text or a schema-valid call. */
  | 'validated'
  | { tool: string }
  | { tools: string[]; required?: boolean };

export type Message =
  | { role: 'user'; content: string | ContentBlock[] }
  | AssistantMessage
  /** The results of the assistant message before it, in call order, and the answers to its requests for approval. */
  | { role: 'tool'; results: CallResult[]; approvals?: ApprovalAnswer[] };

export interface AssistantMessage {
  role: 'assistant';
  text: string;
  calls: Call[];
  /** Calls that the provider made itself, in order. Another dialect is shown them as calls and results. */
  served?: ServedCall[];
  /** Calls that the provider makes once they are approved. */
  approvals?: ApprovalRequest[];
  /**
   * The provider's own items, sent back verbatim where they came from and never elsewhere: to the same dialect, and the
   * same provider when both are known.
   */
  echo?: { dialect: DialectId; model: string; provider?: string; items: JsonObject[] };
}

export interface CallResult {
  call: Call;
  result: ToolResult;
}

/** Why a turn ended. `calls` when there are calls to answer or to approve. */
export type Stop =
  | 'complete'
  | 'calls'
  | 'max-tokens'
  | 'stop-sequence'
  /** The provider paused its own loop: send the conversation again as it is. */
  | 'pause'
  | 'refusal'
  | 'content-filter'
  | 'context-window'
  | 'compaction'
  /** The turn broke (malformed call, failed response); `detail` says how. */
  | 'failed';

/** Tokens of one turn, counted alike for every API. */
export interface Usage {
  /** Everything that went in, cached or not: `cacheRead` and `cacheWrite` are parts of it. */
  input: number;
  /** Everything that came out: `reasoning` is a part of it. */
  output: number;
  cacheRead?: number;
  cacheWrite?: number;
  reasoning?: number;
}

/** One answer of a model. */
export interface Turn {
  message: AssistantMessage;
  stop: Stop;
  /** Words about the stop: a refusal's category, an error's text. */
  detail?: string;
  /** What went wrong beside the answer, in words. */
  notices?: string[];
  /** Of a turn that `failed` in a way the model can mend, such as a call that its API could not read: what to tell it. */
  repair?: string;
  usage: Usage;
  /** Model name as the API reports it. */
  model?: string;
}

export type TurnDelta =
  | { type: 'text'; delta: string }
  | { type: 'reasoning'; delta: string }
  /** A call begins to arrive; arguments follow in the finished turn. */
  | { type: 'call'; id: string; name: string }
  /** The provider makes a call itself; it comes again with its result. */
  | { type: 'served'; call: ServedCall };

/** Collects one streamed turn. Unknown events and items pass through into `echo`. */
export interface TurnReader {
  /** One event of the API's stream, parsed. @throws MidspanError `model` for the API's error events. */
  push(event: object): TurnDelta[];
  /** @throws MidspanError `model` when the stream ended before the turn did. */
  end(): Turn;
}

export interface TurnRequest {
  model: string;
  /** Who answers, such as the origin of the API's address. Absent: whoever made the `echo` of this dialect. */
  provider?: string;
  system?: string;
  messages: readonly Message[];
  tools: Compiled;
  /** Servers that the provider connects to itself; only for a dialect with a connector. */
  servers?: readonly RemoteServer[];
  choice?: Choice;
  /** Default true. */
  parallel?: boolean;
  maxTokens?: number;
  /** Extra members for the request body, merged last: temperature, thinking, reasoning, metadata. */
  extra?: JsonObject;
}

export interface Encoded {
  body: JsonObject;
  /** What the request needs beside the usual headers. */
  headers?: Record<string, string>;
  /**
   * What the API could not carry, in words: for events and reports. A request holds the whole conversation, so the
   * same words come again with every turn.
   */
  losses: string[];
}

export interface ResultOptions {
  /**
   * Keeps a block the API cannot carry and returns the handle to name in its placeholder. It is asked again whenever the
   * result is encoded again, and must give the same handle for the same content, or prompt caches are lost.
   */
  keep?: (block: ContentBlock, call: Call) => string | undefined;
  /** Bytes of text per result before truncation with a notice. Default 262,144. */
  maxText?: number;
  /** Model id, where what is accepted depends on it. */
  model?: string;
}

/** Bodies and events may be typed by the provider's SDK: they are read as JSON, and nothing in them is trusted. */
export interface Dialect {
  readonly id: DialectId;
  /** The provider's own MCP connector; absent when the API has none. */
  readonly connector?: Connector;
  definitions(tools: readonly ExposedTool[]): Compiled;
  /** The calls of a whole (not streamed) answer body, in order. */
  calls(body: object): Call[];
  /** A whole answer body. */
  turn(body: object, model: string): Turn;
  reader(model: string): TurnReader;
  /** The results of one turn as the API's messages or items, all in one batch, in call order. */
  results(
    results: readonly CallResult[],
    options?: ResultOptions,
  ): { messages: JsonObject[]; losses: string[] };
  /** The whole request body of a streamed turn. */
  request(request: TurnRequest, options?: ResultOptions): Encoded;
}

export type { ApprovalAnswer, ApprovalRequest, Connector, RemoteServer, ServedCall } from './connector.ts';
export type { ContentBlock, Json, JsonObject, ToolDefinition, ToolResult };
