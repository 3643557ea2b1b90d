/** The port that every model API implements: something that takes a conversation and tools and streams a turn. */
import type {
  Dialect,
  Message,
  Choice,
  Compiled,
  Turn,
  TurnDelta,
  ResultOptions,
} from '../dialects/dialect.ts';
import type { JsonObject } from '../types.ts';

export interface ModelRequest {
  system?: string;
  messages: readonly Message[];
  tools: Compiled;
  choice?: Choice;
  parallel?: boolean;
  maxTokens?: number;
  extra?: JsonObject;
  results?: ResultOptions;
}

export interface Model {
  /** As the user names it: `anthropic:<model>`, `openai:<model>`, `script:<file>`. */
  readonly name: string;
  /** Compiles the definitions for this model. */
  readonly dialect: Dialect;
  /**
   * Streams one turn. Only the request to the model is ever retried, and only before its first byte of answer.
   * @throws MidspanError `model` (API error, with status and the API's own words), `cancelled`, `unreachable`.
   */
  stream(
    request: ModelRequest,
    options: { signal: AbortSignal; onLoss?: (loss: string) => void },
  ): AsyncGenerator<TurnDelta, Turn>;
}
