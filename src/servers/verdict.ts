/** What is remembered of a server's era, so that a legacy server is not probed at every start. */
import { canonicalJson, sha256Hex } from '../canonical.ts';
import { latestVersion } from '../mcp/versions.ts';
import { configuredEra } from './connect.ts';
import type { Known } from './connect.ts';
import type { EraVerdicts, ServerInfo } from './server.ts';
import type { Json, ServerSpec } from '../types.ts';

export class Verdict {
  readonly #spec: ServerSpec;
  readonly #verdicts: EraVerdicts | undefined;
  readonly #lifetime: number;
  readonly #now: () => number;
  readonly #key: string;

  /** @param lifetime milliseconds that a verdict is believed */
  constructor(spec: ServerSpec, verdicts: EraVerdicts | undefined, lifetime: number, now: () => number) {
    this.#spec = spec;
    this.#verdicts = verdicts;
    this.#lifetime = lifetime;
    this.#now = now;
    // Another configuration has another key, so that its verdict starts anew.
    this.#key = sha256Hex('midspan era verdict', canonicalJson(spec.transport as unknown as Json));
  }

  /** What the configuration says. @throws MidspanError `config` */
  configured(): Known {
    return configuredEra(this.#spec);
  }

  /** A legacy verdict saves the probe. A modern one saves nothing: its first request is the probe. */
  remembered(): Known | undefined {
    if (this.configured().era !== 'auto') return undefined;
    const verdict = this.#verdicts?.get(this.#key);
    if (verdict === undefined) return undefined;
    if (this.#now() - verdict.at > this.#lifetime) return this.drop();
    if (verdict.era === 'modern') return undefined;
    const sse = verdict.transport === 'sse';
    return { era: 'legacy', version: latestVersion('legacy'), sse, from: 'memory' };
  }

  keep({ era, protocolVersion, transport }: ServerInfo): void {
    if (this.configured().era !== 'auto') return;
    this.#verdicts?.set(this.#key, { era, protocolVersion, transport, at: this.#now() });
  }

  drop(): undefined {
    this.#verdicts?.delete(this.#key);
  }
}
