/** What one server makes known: to whoever listens, bounded in number and length. */
import { performance } from 'node:perf_hooks';
import { NOTIFICATION_TEXT_MAX, WARNINGS_PER_SECOND } from '../mcp/protocol-limits.ts';
import { RateLimit } from './rate.ts';
import { redacted } from './secrets.ts';
import type { Redact } from './secrets.ts';
import type { LogMessage, ServerEvent } from './server.ts';
import type { Json, JsonObject } from '../types.ts';

export class Events {
  readonly #listeners = new Set<(event: ServerEvent) => void>();
  readonly #warnings = new RateLimit(WARNINGS_PER_SECOND);
  readonly #redact: Redact;

  constructor(redact: Redact) {
    this.#redact = redact;
  }

  on(listener: (event: ServerEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  emit(event: ServerEvent): void {
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch {
        // A listener's failure is not the server's.
      }
    }
  }

  readonly warning = (message: string): void => {
    if (this.#warnings.allows(performance.now()))
      return this.emit({ type: 'warning', message: this.#redact(message) });
    if (this.#warnings.dropped === 1)
      this.emit({
        type: 'warning',
        message: `gives cause for more than ${WARNINGS_PER_SECOND} warnings a second; the rest is dropped`,
      });
  };

  /** `notifications/message`. */
  readonly log = (params: JsonObject): void => {
    this.emit({ type: 'log', ...this.message(params) });
  };

  /** `notifications/message`, bounded and without secrets. */
  readonly message = ({ level, logger, data }: JsonObject): LogMessage => ({
    level: typeof level === 'string' ? level.slice(0, 20) : 'info',
    ...(typeof logger === 'string' ? { logger: this.#redact(logger).slice(0, 100) } : {}),
    data: bounded(redacted(data ?? null, this.#redact)),
  });

  clear(): void {
    this.#listeners.clear();
  }
}

/** Log data, or its beginning as text when it is long. */
function bounded(data: Json): Json {
  if (typeof data === 'string') return data.slice(0, NOTIFICATION_TEXT_MAX);
  const text = JSON.stringify(data);
  return text.length <= NOTIFICATION_TEXT_MAX ? data : text.slice(0, NOTIFICATION_TEXT_MAX);
}
