/**
 * One MCP server as the rest of the host sees it: no eras, no sessions, no processes. Everything about reaching it,
 * keeping it alive and speaking its revision ends in this folder.
 */
import type { MidspanError } from '../errors.ts';
import type { AnswerInput } from '../mcp/input.ts';
import type { Timing } from './timing.ts';
import type { Era, JsonObject, Progress, ServerSpec, Surface, ToolDefinition, ToolResult } from '../types.ts';

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
  /** `notifications/message`, bounded. */
  | { type: 'log'; level: string; logger?: string; data: JsonObject[string] }
  /** Something was dropped, repaired or limited; names the tool or block. */
  | { type: 'warning'; message: string };

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
