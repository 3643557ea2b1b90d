/**
 * The one door through which definitions enter the catalog: what servers list is compared with the lock, or scanned where
 * there is none, and only what may be shown comes out.
 */
import { dirname } from 'node:path';
import { MidspanError } from '../errors.ts';
import type { Finding } from '../trust/findings.ts';
import {
  type Admission,
  type AdmittedItems,
  admitting,
  type Admitting,
  type Change,
  compare,
  type Identity,
  identityOf,
  itemDigest,
  type Lock,
  type ServerPin,
} from '../trust/lock/index.ts';
import { scanAll } from '../trust/scan/scan.ts';
import type { JsonObject, ServerSpec, Surface, ToolDefinition, ToolLabel, TrustSettings } from '../types.ts';

export type { Admission, Change };

/** What a server listed, in the words of trust. */
export interface Listing {
  spec: ServerSpec;
  surface: Surface;
}

/** What is known of one shown tool beside its definition. */
export interface ToolFacts {
  digest: string;
  labels: readonly ToolLabel[];
}

const NO_LABELS: readonly ToolLabel[] = [];

export class Admissions {
  readonly #settings: TrustSettings;
  readonly #lock: Lock | undefined;
  readonly #base: string | undefined;
  readonly #natives: readonly string[];
  readonly #gates = new Map<string, { identity: string; admitting: Admitting }>();
  readonly #digests = new WeakMap<JsonObject, string>();

  /**
   * @param lock undefined: there is no lock file. @param natives names that no server's tool may imitate.
   * @param before of the configuration until now: without a lock, what its servers listed first goes on counting.
   */
  constructor(
    settings: TrustSettings,
    lock: Lock | undefined,
    configPath: string | undefined,
    natives: readonly string[],
    before?: Admissions,
  ) {
    this.#natives = natives;
    this.#settings = settings;
    this.#lock = lock;
    // A configuration without a file is taken to stand where its lock does.
    const place = configPath ?? settings.lock;
    this.#base = place === undefined ? undefined : dirname(place);
    if (before?.pinnedBy === 'first-listing' && this.pinnedBy === 'first-listing') {
      for (const [label, gate] of before.#gates) this.#gates.set(label, gate);
    }
  }

  get pinnedBy(): 'lock' | 'first-listing' | 'off' {
    if (this.#settings.mode === 'off') return 'off';
    return this.#lock !== undefined || this.#settings.mode === 'required' ? 'lock' : 'first-listing';
  }

  /** Why a server may not be started or reached at all. Asked before it is. */
  refusal(spec: ServerSpec): MidspanError | undefined {
    if (this.pinnedBy !== 'lock') return undefined;
    const { label } = spec;
    if (this.#lock === undefined) {
      return new MidspanError({
        label,
        code: 'unapproved',
        what: 'nothing is approved: `trust.mode` is `required` and there is no lock file',
        next: '`midspan lock` shows what the servers list and writes it',
      });
    }
    const pin = pinOf(this.#lock, label);
    if (pin === undefined) {
      return new MidspanError({
        label,
        code: 'unapproved',
        what: 'the server is not in the lock file, so it is not started',
        next: `\`midspan lock ${label}\` shows what it lists and adds it`,
      });
    }
    const changes = compare(pin, { identity: this.#identity(spec), surface: { serverInfo: pin.serverInfo } });
    const change = changes.find(({ effect }) => effect === 'stop');
    if (change === undefined) return undefined;
    return new MidspanError({
      label,
      code: 'unapproved',
      what: `how the server is reached is not what was approved, so it is not started: ${change.what}`,
      next: `\`midspan diff ${label}\` shows the difference, \`midspan lock ${label}\` approves it`,
    });
  }

  /**
   * What may be shown of every server that has listed. The same listings give the same admissions, in whatever order they
   * came; a listing that was seen before costs next to nothing.
   */
  admit(listings: readonly Listing[]): Map<string, Admission> {
    if (this.pinnedBy === 'off') {
      return new Map(
        listings.map(({ spec, surface: { tools, instructions, prompts, resources, templates } }) => [
          spec.label,
          {
            tools: (tools ?? []) as ToolDefinition[],
            others: { prompts: all(prompts), resources: all(resources), templates: all(templates) },
            ...(instructions !== undefined && { instructions }),
            withheld: [],
            changes: [],
            findings: [],
            facts: new Map(),
          },
        ]),
      );
    }
    const findings =
      this.pinnedBy === 'lock'
        ? new Map<string, Finding[]>()
        : scanAll(
            listings.map(({ spec, surface }) => ({ label: spec.label, surface })),
            this.#natives,
          );
    return new Map(
      listings.map(({ spec, surface }) => [
        spec.label,
        this.#gate(spec).admit(surface, findings.get(spec.label) ?? []),
      ]),
    );
  }

  /** Facts of a shown definition. Its digest is computed when the admission does not know it. */
  facts(admission: Admission | undefined, tool: string, definition: ToolDefinition): ToolFacts {
    const known = admission?.facts.get(tool);
    if (known !== undefined) return known;
    let digest = this.#digests.get(definition);
    if (digest === undefined) {
      digest = itemDigest('tool', definition);
      this.#digests.set(definition, digest);
    }
    return { digest, labels: NO_LABELS };
  }

  #gate(spec: ServerSpec): Admitting {
    const known = this.#gates.get(spec.label);
    const identity = this.#identity(spec);
    if (known?.identity === identity.digest) return known.admitting;
    const made = admitting({
      label: spec.label,
      pin: this.#lock === undefined ? undefined : pinOf(this.#lock, spec.label),
      isLocked: this.pinnedBy === 'lock',
      identity,
      profile: this.#settings.profile,
    });
    this.#gates.set(spec.label, { identity: identity.digest, admitting: made });
    return made;
  }

  #identity(spec: ServerSpec): Identity {
    return identityOf(spec, this.#base);
  }
}

const all = (items: readonly JsonObject[] | undefined): AdmittedItems => ({
  shown: [...(items ?? [])],
  withheld: [],
});

/** Labels are a stranger's text: `constructor` is one like any other. */
const pinOf = ({ servers }: Lock, label: string): ServerPin | undefined =>
  Object.hasOwn(servers, label) ? servers[label] : undefined;
