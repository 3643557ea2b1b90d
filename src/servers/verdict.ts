/** What is known of a server's era before it is asked: configured, or remembered, so that a legacy server is not probed at every start. */
import { sha256Hex } from '../canonical.ts';
import { MidspanError } from '../errors.ts';
import { eraOf, latestVersion, versionsOf } from '../mcp/versions.ts';
import type { EraVerdict, EraVerdicts, ServerInfo } from './server.ts';
import type { Era, ServerSpec } from '../types.ts';

/** What is known of the era before anything is asked: configured, or remembered. */
export type Known =
  | { era: 'auto' }
  /** `from` says how far it binds: a remembered era is only a guess, a revision must be the one agreed on. */
  | { era: Era; version: string; sse: boolean; from: 'memory' | 'configuration' | 'revision' };

/** `era` of a server's configuration. @throws MidspanError `config` for a revision that we do not speak. */
export function configuredEra(spec: ServerSpec): Known {
  const sse = spec.transport.type === 'sse';
  const asked: string = spec.era ?? 'auto';
  const legacy: Known = { era: 'legacy', version: latestVersion('legacy'), sse, from: 'configuration' };
  if (asked === 'auto') return sse ? legacy : { era: 'auto' };
  if (asked === 'legacy') return legacy;
  if (asked === 'modern')
    return { era: 'modern', version: latestVersion('modern'), sse, from: 'configuration' };
  const era = eraOf(asked);
  if (era !== undefined) return { era, version: asked, sse, from: 'revision' };
  throw new MidspanError({
    code: 'config',
    label: spec.label,
    what: `"era" is "${asked}", which is no era and no revision that we speak`,
    next: `Use auto, legacy, modern, or one of ${[...versionsOf('modern'), ...versionsOf('legacy')].join(', ')}`,
  });
}

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
    // Another configuration has another key, so that its verdict starts anew. Not canonical JSON: that has no form for some texts.
    this.#key = sha256Hex('midspan era verdict', JSON.stringify(spec.transport));
  }

  /** What the configuration says. @throws MidspanError `config` */
  configured(): Known {
    return configuredEra(this.#spec);
  }

  /** A legacy verdict saves the probe. A modern one saves nothing: its first request is the probe. */
  remembered(): Known | undefined {
    if (this.configured().era !== 'auto') return undefined;
    const verdict = this.#stored();
    if (verdict === undefined) return undefined;
    if (this.#now() - verdict.at > this.#lifetime) return this.drop();
    if (verdict.era === 'modern') return undefined;
    const sse = verdict.transport === 'sse';
    return { era: 'legacy', version: latestVersion('legacy'), sse, from: 'memory' };
  }

  keep({ era, protocolVersion, transport }: ServerInfo): void {
    if (this.configured().era !== 'auto') return;
    try {
      this.#verdicts?.set(this.#key, { era, protocolVersion, transport, at: this.#now() });
    } catch {
      // A verdict that is not kept costs a probe, no more.
    }
  }

  drop(): undefined {
    try {
      this.#verdicts?.delete(this.#key);
    } catch {
      // It is dropped when it fails the next time.
    }
  }

  #stored(): EraVerdict | undefined {
    try {
      return this.#verdicts?.get(this.#key);
    } catch {
      return undefined;
    }
  }
}
