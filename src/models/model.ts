/** The port that every model API implements: something that takes a conversation and tools and streams a turn. */
import type {
  Dialect,
  Message,
  Choice,
  Compiled,
  Turn,
  TurnDelta,
  RemoteServer,
  ResultOptions,
} from '../dialects/dialect.ts';
import type { JsonObject } from '../types.ts';

export interface ModelRequest {
  system?: string;
  messages: readonly Message[];
  tools: Compiled;
  /** Servers that the provider connects to itself; only for a model with `reach`. */
  servers?: readonly RemoteServer[];
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
   * From where its API connects to MCP servers itself, when its dialect has a connector: this machine's network, or the
   * internet. Absent: it never does.
   */
  readonly reach?: 'local' | 'internet';
  /**
   * Streams one turn. Only the request to the model is ever retried, and only before its first byte of answer.
   * @throws MidspanError `model` (API error, with status and the API's own words), `cancelled`, `unreachable`.
   */
  stream(
    request: ModelRequest,
    options: { signal: AbortSignal; onLoss?: (loss: string) => void },
  ): AsyncGenerator<TurnDelta, Turn>;
}
