/** What a lock holds, and what a comparison with it says. Types alone. */
import type { Finding } from '../findings.ts';
import type { Item, JsonObject, Surface, ToolDefinition, ToolLabel } from '../../types.ts';

/** `sha256-` and base64, over the RFC 8785 bytes behind `midspan-pin/1\0<kind>\0`. */
export type Digest = string;

export interface ItemPin {
  digest: Digest;
  /** text, shape, out, hints, look, meta: which part of it a change touches. */
  facets: { [facet: string]: Digest };
  /** The whole thing as it was approved. */
  definition: JsonObject;
  /** Assigned by the host at review, never by the server. */
  labels?: ToolLabel[];
  /** Findings that a person accepted for exactly this digest. */
  accepted?: { rule: string; pointer: string; reason?: string; by?: string }[];
  /** Other digests that are as good (an annotation that comes and goes). */
  variants?: Digest[];
  /** Places that legitimately vary: a closed set of placeholders, security notes in docs/trust.md. */
  volatile?: { pointer: string; placeholder: string }[];
}

export interface Identity {
  transport: 'stdio' | 'http' | 'sse';
  /** stdio: command and arguments; paths under the configuration's folder and the home are written `$CONFIG/`, `$HOME/`. */
  argv?: string[];
  cwd?: string;
  /** Names only, sorted. */
  env?: string[];
  /** http: without userinfo, query and fragment. */
  url?: string;
  /** Names only, sorted, lower case. */
  headers?: string[];
  issuer?: string;
  package?: { ecosystem: 'npm'; name: string; version?: string; integrity?: string };
  digest: Digest;
}

export interface ServerPin {
  identity: Identity;
  serverInfo: JsonObject;
  instructions?: { text: string; digest: Digest; accepted?: ItemPin['accepted'] };
  tools: { [name: string]: ItemPin };
  prompts: { [name: string]: ItemPin };
  resources: { [uri: string]: ItemPin };
  templates: { [uriTemplate: string]: ItemPin };
  /** `yes`: accepted unseen by --yes. `at`: day, changes only with a review. */
  reviewed: { at: string; how: 'review' | 'yes'; by?: string };
}

export interface Lock {
  lockfileVersion: 1;
  pin: 'midspan-pin/1';
  ruleset: string;
  servers: { [label: string]: ServerPin };
}

/**
 * inform: shown as pinned, or gone, and noted. serve-pinned: the pinned definition goes on being shown and called.
 * withhold: not shown, not called. stop: the whole server is not started, or is ended.
 */
export type Effect = 'inform' | 'serve-pinned' | 'withhold' | 'stop';

export interface Change extends Item {
  /** One of the classes of the decision matrix, such as `hints-tightened`, `text-small`, `renamed`, `identity`, `flip-flop`. */
  class: string;
  effect: Effect;
  /** One line, host's words, drawn: what changed and why it matters. */
  what: string;
  facets: string[];
  was?: JsonObject | string;
  now?: JsonObject | string;
  wasDigest?: Digest;
  nowDigest?: Digest;
  /** The key of the removed item this one resembles. */
  renamedFrom?: string;
  /** In added text only. */
  findings?: Finding[];
}

export type Profile = 'standard' | 'strict' | 'frozen';

export type OtherList = 'prompts' | 'resources' | 'templates';

export interface AdmittedItems {
  /** As approved. */
  shown: JsonObject[];
  /** By name, uri or uriTemplate. */
  withheld: { key: string; reason: string }[];
}

/** What may be shown of a server. Everything in it comes from the pin (or, without a lock, from the first listing). */
export interface Admission {
  /** The definitions to show, as approved. */
  tools: ToolDefinition[];
  instructions?: string;
  /** Not shown, with reasons in the host's words that say what to do. */
  withheld: { tool: string; reason: string }[];
  /** The other lists, likewise. */
  others: Record<OtherList, AdmittedItems>;
  /** Set: nothing of the server is shown and nothing called. */
  stopped?: string;
  changes: Change[];
  findings: Finding[];
  /** By the server's own name: digest of the shown definition and its labels, for policy and the record. */
  facts: ReadonlyMap<string, { digest: Digest; labels: readonly ToolLabel[] }>;
}

/**
 * One server's admission over the life of a process: remembers what it saw (flip-flop), never learns silently.
 * `pin` undefined and `isLocked` true: the server is not in the lock: everything is pending.
 * Without a lock the first listing of this process is what counts, but for what the scan withholds or sends to review.
 */
export interface Admitting {
  admit(surface: Surface, findings: readonly Finding[]): Admission;
}
