/** `serve` of midspan.json: where the gateway listens, who may connect, and how much. */
import { isThisMachine } from '../proxy.ts';
import {
  complain,
  type EntryReading,
  flag,
  members,
  type Path,
  type Readers,
  readInto,
  text,
  texts,
} from './fields.ts';
import { oneOf } from './settings.ts';
import type { Entry, Item } from './syntax.ts';
import { globs } from './trust.ts';

/** A key of its own for one client, with what it may see. */
export interface ServeKey {
  name: string;
  /** The secret itself, resolved. */
  key: string;
  /** Globs over labels. Absent: every server. */
  servers?: string[];
  tools?: ToolFilter;
}

/** Globs over `<label>/<tool>`, by the server's own names. */
export interface ToolFilter {
  allow?: string[];
  deny?: string[];
}

/** The gateway as an OAuth resource server: who issues access tokens, and for whom they must be. */
export interface OAuthSettings {
  issuer: string;
  /** What `aud` of a token must hold. */
  audience: string;
  /** The address that clients know the gateway by (RFC 9728 `resource`). Default: the audience, where that is an address. */
  resource?: string;
  /** Default: what the issuer's metadata says. */
  jwksUri?: string;
  /** All of them are needed. */
  scopes?: string[];
}

export interface ServeLimits {
  /** Bytes of one request. */
  body?: number;
  /** Requests of one principal that run at a time. */
  inFlight?: number;
  /** Requests of one principal in a minute. Absent: any number. */
  perMinute?: number;
  /** Sessions of one principal. */
  sessions?: number;
}

export interface ServeSettings {
  host?: string;
  port?: number;
  auth?: 'token' | 'none' | OAuthSettings;
  keys?: ServeKey[];
  /** Names, with or without a port, that clients may reach the gateway under beside loopback ones. */
  hosts?: string[];
  /** Web pages that may use the gateway, such as `https://app.example.com`. */
  origins?: string[];
  /** Whether HTTP+SSE of 2024-11-05 is served, too. */
  sse?: boolean;
  limits?: ServeLimits;
  /** Seconds that an ask waits for `midspan answer`. */
  answersWithin?: number;
  tasks?: TaskSettings;
}

export interface TaskSettings {
  /** Seconds that a call may run before it becomes a task, for clients that take tasks. */
  after?: number;
}

/** A name or address as a Host header has it, with or without a port. */
export const HOST = /^(\[[0-9a-f:.]{2,45}\]|[a-z0-9_-](?:[a-z0-9._-]{0,252}))(?::(\d{1,5}))?$/i;
/** As an Origin header has it. */
const ORIGIN = /^[a-z][a-z0-9+.-]{0,30}:\/\/[^/?#\s\p{Lu}]{1,260}$/u;
const KEY_LEAST = 16;

export function serveSettings(entry: Entry | undefined, reading: EntryReading): ServeSettings {
  const settings: ServeSettings = {};
  if (entry !== undefined) readInto(settings, entry.item, ['serve'], reading, SERVE);
  return settings;
}

const SERVE: Readers<ServeSettings> = {
  host: (item, at, reading) => filled(item, at, reading),
  port: (item, at, reading) => whole(item, at, reading, 0, 65_535),
  auth: (item, at, reading) =>
    typeof item.value === 'string'
      ? oneOf<'token' | 'none'>(item, at, reading, ['token', 'none'])
      : oauth(item, at, reading),
  keys(item, at, reading) {
    if (!Array.isArray(item.value)) return complain(at, item.place, reading, 'must be an array of keys');
    const keys = item.value.flatMap((each, index) => key(each, [...at, String(index)], reading) ?? []);
    for (const member of ['name', 'key'] as const) {
      const index = keys.findIndex(
        (each, here) => keys.findIndex((other) => other[member] === each[member]) < here,
      );
      if (index >= 0) complain([...at, String(index), member], item.place, reading, 'is the same as before');
    }
    return keys;
  },
  hosts(item, at, reading) {
    const hosts = texts(item, at, reading);
    if (hosts?.every((host) => HOST.test(host)) === false)
      return complain(at, item.place, reading, 'must hold names such as `gateway.example.com` or `box:7717`');
    return hosts?.map((host) => host.toLowerCase());
  },
  origins(item, at, reading) {
    const origins = texts(item, at, reading);
    if (origins?.every((origin) => ORIGIN.test(origin)) === false)
      return complain(at, item.place, reading, 'must hold origins such as `https://app.example.com`');
    return origins;
  },
  sse: flag,
  limits(item, at, reading) {
    const limits: ServeLimits = {};
    readInto(limits, item, at, reading, LIMITS);
    return limits;
  },
  answersWithin: (item, at, reading) => whole(item, at, reading, 1, 86_400),
  tasks(item, at, reading) {
    const tasks: TaskSettings = {};
    readInto(tasks, item, at, reading, { after: (each, place, how) => whole(each, place, how, 1, 86_400) });
    return tasks;
  },
};

const LIMITS: Readers<ServeLimits> = {
  body: (item, at, reading) => whole(item, at, reading, 1024, 256 * 1024 * 1024),
  inFlight: (item, at, reading) => whole(item, at, reading, 1, 100_000),
  perMinute: (item, at, reading) => whole(item, at, reading, 1, 10_000_000),
  sessions: (item, at, reading) => whole(item, at, reading, 1, 100_000),
};

const KEY: Readers<ServeKey> = {
  name(item, at, reading) {
    const name = text(item, at, reading);
    return name === undefined || /^[\w.-]{1,64}$/.test(name)
      ? name
      : complain(at, item.place, reading, 'must have up to 64 letters, digits, `_`, `-` and `.`');
  },
  key(item, at, reading) {
    const value = text(item, at, reading);
    if (value === undefined) return undefined;
    if (!/^[\w.~+/-]+=*$/.test(value))
      return complain(at, item.place, reading, 'must have letters, digits and `-._~+/` alone, as tokens do');
    if (value.length < KEY_LEAST)
      return complain(at, item.place, reading, `must have at least ${KEY_LEAST} characters`);
    if (value === item.value)
      reading.problems.warn(at, item.place, 'is written out; `${secret:NAME}` keeps it out of the file');
    return value;
  },
  servers: globs,
  tools(item, at, reading) {
    const filter: ToolFilter = {};
    readInto(filter, item, at, reading, { allow: globs, deny: globs });
    return filter;
  },
};

function key(item: Item, at: Path, reading: EntryReading): ServeKey | undefined {
  const given = members(item, at, reading);
  if (given === undefined) return undefined;
  const draft: Partial<ServeKey> = {};
  readInto(draft, item, at, reading, KEY as Readers<Partial<ServeKey>>);
  if (!demand(['name', 'key'], item, at, reading)) return undefined;
  if (draft.tools?.allow !== undefined && draft.servers === undefined)
    complain(
      [...at, 'tools'],
      item.place,
      reading,
      'says nothing of prompts and resources: name the `servers` beside it (["*"] is every one)',
    );
  const { name, key: secret } = draft;
  return name === undefined || secret === undefined ? undefined : { ...draft, name, key: secret };
}

const OAUTH: Readers<OAuthSettings> = {
  issuer: address,
  audience: filled,
  resource: address,
  jwksUri: address,
  scopes: texts,
};

function oauth(item: Item, at: Path, reading: EntryReading): OAuthSettings | undefined {
  const draft: Partial<OAuthSettings> = {};
  readInto(draft, item, at, reading, OAUTH as Readers<Partial<OAuthSettings>>);
  if (!demand(['issuer', 'audience'], item, at, reading)) return undefined;
  const { issuer, audience } = draft;
  if (issuer === undefined || audience === undefined) return undefined;
  const resource = draft.resource ?? (/^https?:\/\//.test(audience) ? audience : undefined);
  if (resource === undefined || !URL.canParse(resource))
    return complain(
      at,
      item.place,
      reading,
      'needs a `resource`, the address that clients know the gateway by, since the audience is none',
    );
  return { ...draft, issuer, audience, resource };
}

function demand(names: readonly string[], item: Item, at: Path, reading: EntryReading): boolean {
  const missing = names.filter((name) => !(item.value instanceof Map && item.value.has(name)));
  if (item.value instanceof Map && missing.length > 0)
    complain(at, item.place, reading, `has no ${missing.map((name) => `\`${name}\``).join(' and no ')}`);
  return missing.length === 0;
}

function filled(item: Item, at: Path, reading: EntryReading): string | undefined {
  const value = text(item, at, reading);
  return value === '' ? complain(at, item.place, reading, 'must not be empty') : value;
}

/** Keys and tokens are only as good as the way that they come. */
function address(item: Item, at: Path, reading: EntryReading): string | undefined {
  const value = text(item, at, reading);
  if (value === undefined) return undefined;
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && isThisMachine(url))) return value;
  return complain(at, item.place, reading, 'must be an https address (http on this machine alone)');
}

function whole(item: Item, at: Path, reading: EntryReading, least: number, most: number): number | undefined {
  const { value } = item;
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value;
  return complain(at, item.place, reading, `must be a whole number from ${least} to ${most}`);
}
