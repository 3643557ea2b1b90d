/** One request of ours, as the request table keeps it. */
import type { RequestClock } from './clock.ts';
import type { Asker } from './inbound.ts';
import type { MidspanError } from '../errors.ts';
import type { Answer } from '../mcp/codec.ts';
import type { RequestId } from '../mcp/message.ts';
import type { JsonObject, Progress } from '../types.ts';

export interface RequestOptions {
  signal?: AbortSignal | undefined;
  /** Milliseconds without progress; 0 waits for ever. */
  timeout: number;
  /** Milliseconds whatever the progress. Default `timeout`. */
  timeoutMax?: number;
  onProgress?: ((progress: Progress) => void) | undefined;
  /** Arguments that go as HTTP headers too. */
  mirrored?: Record<string, string> | undefined;
  asker?: Asker;
  /** It stays open and takes no place among the requests in flight. Called with its id once it is sent. */
  stream?: (id: RequestId) => void;
  /** The server may not be told to give it up (`initialize`). */
  uncancellable?: boolean;
}

export interface Entry {
  readonly id: number;
  readonly method: string;
  readonly params: JsonObject;
  readonly options: RequestOptions;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: MidspanError) => void;
  state: 'waiting' | 'sent' | 'settled';
  clock: RequestClock | undefined;
  progress: number;
  /** Questions of the server about it that are being answered: its clock stands still. */
  readonly questions: Set<AbortController>;
  stopListening: (() => void) | undefined;
  /** Ends its HTTP exchange. */
  exchange: AbortController | undefined;
}
