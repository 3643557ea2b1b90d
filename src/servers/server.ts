/**
 * One MCP server as the rest of the host sees it: no eras, no sessions, no processes. Everything about reaching it,
 * keeping it alive and speaking its revision ends in this folder.
 */
import type { MidspanError } from '../errors.ts';
import type { AnswerInput, InputRequest } from '../mcp/input.ts';
import type { Timing } from './timing.ts';
import type {
  Era,
  Json,
  JsonObject,
  Progress,
  ServerSpec,
  Surface,
  ToolDefinition,
  ToolResult,
} from '../types.ts';

/**
 * starting: first attempt under way. ready: usable. restarting: was ready, is being brought back.
 * failed: gave up for now (the next call tries again, after a back-off). closed: by us, for good.
 */
export type ServerState = 'starting' | 'ready' | 'restarting' | 'failed' | 'closed';

export interface ServerInfo {
  era: Era;
  protocolVersion: string;
  /** What the server says of itself: for display only, never for trust or naming. */
  serverInfo: JsonObject;
  capabilities: JsonObject;
  instructions?: string;
  transport: 'stdio' | 'http' | 'sse';
}

export type ServerEvent =
  | { type: 'state'; state: ServerState; error?: MidspanError }
  | { type: 'tools-changed' }
  /** Its prompts, resources or templates may be others now. Told once for many notices, as `tools-changed` is. */
  | { type: 'others-changed' }
  /** `notifications/resources/updated` of a URI that somebody follows. */
  | { type: 'resource-updated'; uri: string }
  /** `notifications/message` that belongs to no request in particular, bounded. */
  | ({ type: 'log' } & LogMessage)
  /** Something was dropped, repaired or limited; names the tool or block. */
  | { type: 'warning'; message: string };

/** `notifications/message`. */
export interface LogMessage {
  level: string;
  logger?: string;
  data: Json | undefined;
}

/** For whom a request is made, where a server's `isolation` keeps them apart. */
export interface Owner {
  principal: string;
  /** One session or connection of that principal; for clients without one, the principal again. */
  client: string;
}

/**
 * How a request of a client goes on to a server. What the client could answer itself and how it hears of things travels with
 * the request, so that one connection serves many clients.
 */
export interface RelayOptions {
  signal?: AbortSignal;
  /** Milliseconds without progress; default the server's. */
  timeout?: number;
  onProgress?: (progress: Progress) => void;
  /**
   * MCP client capabilities of whoever asks. A modern server is told them with the request; of a legacy server a session that
   * declared them serves it (one for each set of capabilities, opened when it is needed). Absent: the host's own.
   */
  capabilities?: JsonObject;
  owner?: Owner;
  /** Answers what the server asks meanwhile. Absent: declined. */
  onInput?: AnswerInput;
  /** Input rounds of a modern server come back as `input`, for whoever asks to answer, and `onInput` is not asked for them. */
  rounds?: boolean;
  /**
   * A server that makes tasks of its calls, for whoever takes none: the task is waited for here (default), or the server's
   * refusal is the answer (false).
   */
  drivesTasks?: boolean;
  /** Calls the tool as a task where a server of 2025-11-25 lets it, and waits for the task here. */
  asTask?: boolean;
  /** Hears that the server has made a task that is waited for here. */
  onTask?: () => void;
  /** The next round of a request that was answered with `input`. */
  round?: Round;
  /** MCP log level: from which on `onLog` hears what the server logs about this request. */
  logLevel?: string;
  onLog?: (message: LogMessage) => void;
  /** More members of `_meta`: trace context, and what vendors put there. Nothing of `io.modelcontextprotocol/`. */
  meta?: JsonObject;
  /** Whoever reads the result must know this. */
  onNote?: (note: string) => void;
}

/** What answers an `input` (MCP MRTR): the responses by the keys of its requests, and its state, byte for byte. */
export interface Round {
  responses?: JsonObject;
  state?: string;
}

/** A server's answer in neutral form. */
export type Relayed =
  | { kind: 'complete'; result: JsonObject; ttlMs?: number; cacheScope?: string }
  /** Only where `rounds` was asked for. */
  | { kind: 'input'; requests: Record<string, InputRequest>; state: string | undefined }
  /** Only where `capabilities` declare `io.modelcontextprotocol/tasks`: the flat task object of the extension. */
  | { kind: 'task'; task: JsonObject };

export interface CallOptions {
  signal?: AbortSignal;
  onProgress?: (progress: Progress) => void;
  /** Answers what the server asks while this call runs. Absent: declined. */
  onInput?: AnswerInput;
  /** Something whoever reads the result must know (an ask was declined, a block was dropped). */
  onNote?: (note: string) => void;
  /** Milliseconds without progress; progress extends it up to the hard cap (`timeouts.callMax`). */
  timeout?: number;
}

export interface Server {
  readonly label: string;
  readonly spec: ServerSpec;
  readonly state: ServerState;
  readonly info: ServerInfo | undefined;
  /** Why it is not ready, with the stderr tail of a process. */
  readonly error: MidspanError | undefined;
  /** Resolves when it is ready; rejects with the reason when an attempt fails or the signal aborts. */
  ready(signal?: AbortSignal): Promise<void>;
  /** The tools it lists now, malformed ones left out with a warning event. Cached by the server's hints and list_changed. */
  listTools(options?: { signal?: AbortSignal; refresh?: boolean }): Promise<ToolDefinition[]>;
  /**
   * Everything it lists, for review and comparison: tools, and prompts, resources and templates where it declares them. A
   * list that cannot be had is absent, with a warning event.
   */
  surface(options?: { signal?: AbortSignal; refresh?: boolean }): Promise<Surface>;
  /**
   * Calls a tool by the server's own name. Resolves with the server's answer, `isError` ones included.
   * @throws MidspanError `rpc` (the server refused), `timeout`, `cancelled`, `closed` (outcome unknown), `unreachable`, `limit`.
   */
  callTool(name: string, args: JsonObject, options?: CallOptions): Promise<ToolResult>;
  /**
   * Sends a client's request on, by the server's own names and URIs: `tools/call`, `prompts/get`, `resources/read`,
   * `completion/complete`, and `tasks/get|update|cancel` of the tasks extension. The result of a tool is read as `callTool`
   * reads it; of other methods only the bounds are checked.
   * @throws MidspanError as `callTool`; `rpc` with `data.code`, `data.message` and `data.data` as the server gave them.
   */
  relay(method: string, params: JsonObject, options?: RelayOptions): Promise<Relayed>;
  /**
   * Hears of changes of one resource (`resource-updated`) until the returned function is called. Counted by URI, so that many
   * followers are one subscription; kept over restarts and new sessions. Never rejects: what cannot be followed is a warning.
   */
  follow(uri: string): () => void;
  /** A client comes no more: what was kept apart for it (`isolation`) is ended. */
  forget(owner: Owner): void;
  on(listener: (event: ServerEvent) => void): () => void;
  /** Ends it: pending calls reject with `closed`, session deleted, process tree gone when this resolves. */
  close(): Promise<void>;
}

/** What comes from outside: so that tests and replays can hold time, and so that nothing is global. */
export interface ServerDeps {
  clientInfo: { name: string; version: string };
  /** MCP client capabilities to declare. */
  capabilities: JsonObject;
  /** Remembers the era verdict between openings, keyed by a digest of the configuration. */
  verdicts?: EraVerdicts;
  /** Milliseconds since the epoch. Default `Date.now`. */
  now?: () => number;
  /** From 0 to 1, for the jitter of back-offs. Default `Math.random`. */
  random?: () => number;
  /** Durations other than the defaults of timing.ts. `timeouts` of the configuration go before them. */
  timing?: Partial<Timing>;
}

/** What was found of a server's era. A verdict counts for a day. */
export interface EraVerdict {
  era: Era;
  protocolVersion: string;
  transport: 'stdio' | 'http' | 'sse';
  /** When it was found, in milliseconds since the epoch. */
  at: number;
}

export interface EraVerdicts {
  get(key: string): EraVerdict | undefined;
  set(key: string, verdict: EraVerdict): void;
  delete(key: string): void;
}
