/**
 * ToolPin's `mcp-lock.json`, by the draft `mcp-lock/1` of its specification: for programs that read that file. It holds a digest
 * of names, descriptions and input schemas where our lock holds everything, so it is made from a lock and never becomes one.
 */
import { canonicalJson, plainSha256Base64 } from '../../canonical.ts';
import { MidspanError } from '../../errors.ts';
import { validate } from '../../schema/index.ts';
import type { Json, JsonObject } from '../../types.ts';
import type { Digest, Lock, ServerPin } from './lock.ts';
import { lockText, strictJson } from './lock-file.ts';

export interface ToolPinEntry extends JsonObject {
  name: string;
  version: string;
  client: string;
  target: JsonObject;
  surface?: { hash: Digest; coverage: string[]; toolCount: number };
  integrity: Digest;
}

const COVERAGE = ['name', 'description', 'inputSchema'];

/** What of a lock the format has room for: npm packages with a version, and servers behind https. The rest is named. */
export function toolPinText(lock: Lock): { text: string; leftOut: string[] } {
  const entries = Object.entries(lock.servers).map(([label, pin]) => entryOf(label, pin));
  const document = { specVersion: 1, entries: entries.filter((entry) => entry !== undefined) };
  return {
    text: lockText(document),
    leftOut: Object.keys(lock.servers).filter((_, index) => entries[index] === undefined),
  };
}

function entryOf(label: string, pin: ServerPin): JsonObject | undefined {
  const { digest: _digest, ...facts } = pin.identity;
  const { serverInfo, reviewed } = pin;
  const target = targetOf(pin);
  const version = facts.package?.version ?? serverInfo['version'];
  if (target === undefined || typeof version !== 'string') return undefined;
  const at = `${reviewed.at}T00:00:00.000Z`;
  const entry: JsonObject = {
    name: label,
    version,
    client: 'midspan',
    source: { registry: 'manual' },
    target,
    surface: {
      hash: surfaceHash(pin, COVERAGE),
      coverage: COVERAGE,
      toolCount: Object.keys(pin.tools).length,
      capturedAt: at,
    },
    configDigest: digestOf(facts),
    resolvedAt: at,
    lockedAt: at,
  };
  return { ...entry, integrity: digestOf(entry) };
}

function targetOf({ identity }: ServerPin): JsonObject | undefined {
  const { transport, package: found, url } = identity;
  if (transport === 'stdio') {
    if (found?.version === undefined) return undefined;
    const { name: identifier, version } = found;
    return { type: 'package', registryType: 'npm', identifier, version, transport };
  }
  if (url?.startsWith('https:') !== true) return undefined;
  // The format names the secrets that headers take, not the headers: those are not in a lock, so they are left out.
  return { type: 'remote', transport: transport === 'http' ? 'streamable-http' : 'sse', url };
}

/** Digests of this format are plain SHA-256 over RFC 8785 bytes. */
const digestOf = (value: Json): Digest => `sha256-${plainSha256Base64(canonicalJson(value))}`;

function surfaceHash({ tools }: ServerPin, coverage: readonly string[]): Digest {
  const records = Object.keys(tools)
    .sort()
    .map((name) => {
      const definition = tools[name]?.definition ?? {};
      const covered = coverage.filter((member) => Object.hasOwn(definition, member));
      return Object.fromEntries(covered.map((member) => [member, definition[member]]));
    });
  return digestOf(records);
}

/** Whether an entry pins the same tools as a lock does; undefined when it pins none. */
export function sameSurface({ surface }: ToolPinEntry, pin: ServerPin): boolean | undefined {
  return surface === undefined ? undefined : surfaceHash(pin, surface.coverage) === surface.hash;
}

/**
 * The entries of a file, each whole by its own digest.
 * @throws MidspanError `config` naming the file and the entry; for ToolPin's own older `lockfileVersion: 2`, too.
 */
export function parseToolPin(text: string, file: string = 'mcp-lock.json'): ToolPinEntry[] {
  const problem = (what: string): MidspanError =>
    new MidspanError({
      code: 'config',
      what: `${file} ${what}`,
      next: 'Only documents of `mcp-lock/1` (`specVersion: 1`) are read',
    });
  const value = strictJson(text, problem);
  if (hasTwins(value)) throw problem('has two members whose names are the same after normalization (NFC)');
  const verdict = validate(DOCUMENT, value);
  if (verdict.ok !== true)
    throw problem(`is not mcp-lock/1: ${verdict.ok === false ? verdict.problem : verdict.reason}`);
  const { entries } = value as { entries: ToolPinEntry[] };
  const seen = new Set<string>();
  for (const [index, { integrity, ...entry }] of entries.entries()) {
    if (digestOf(entry) !== integrity)
      throw problem(`was edited: entries[${index}] does not have the digest that it names`);
    const identity = canonicalJson([entry.name, entry.client, entry['scope'] ?? 'project']);
    if (seen.has(identity)) throw problem(`has entries[${index}] twice`);
    seen.add(identity);
  }
  return entries;
}

function hasTwins(value: Json | undefined): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(hasTwins);
  const names = Object.keys(value);
  return (
    new Set(names.map((name) => name.normalize('NFC'))).size < names.length ||
    Object.values(value).some(hasTwins)
  );
}

const text = { type: 'string' };
const digest = { type: 'string', pattern: '^sha256-[A-Za-z0-9+/]{43}=$' };
const isImage = { properties: { registryType: { const: 'oci' } }, required: ['registryType'] };
/** A remote server is behind https and names secrets, an image its digest. */
const TARGET: JsonObject = {
  type: 'object',
  properties: {
    headerSecretNames: { type: 'array', items: { type: 'string', pattern: '^[A-Z][A-Z0-9_]*$' } },
  },
  required: ['type'],
  anyOf: [
    {
      properties: { type: { const: 'remote' }, url: { type: 'string', pattern: '^https://' } },
      required: ['url'],
    },
    {
      properties: { type: { const: 'package' } },
      anyOf: [
        { not: isImage },
        { properties: { identifier: { type: 'string', pattern: '@sha256:[0-9a-f]{64}$' } } },
      ],
    },
  ],
};

const DOCUMENT: JsonObject = {
  type: 'object',
  properties: {
    specVersion: { const: 1 },
    entries: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          name: text,
          version: text,
          client: text,
          scope: { enum: ['project', 'user'] },
          source: { type: 'object', required: ['registry'] },
          target: TARGET,
          surface: {
            type: 'object',
            properties: {
              hash: digest,
              coverage: {
                type: 'array',
                items: { enum: COVERAGE },
                allOf: [{ contains: { const: 'name' } }, { contains: { const: 'description' } }],
              },
              toolCount: { type: 'integer', minimum: 0 },
            },
            required: ['hash', 'coverage', 'toolCount'],
          },
          configDigest: digest,
          resolvedAt: text,
          lockedAt: text,
          integrity: digest,
        },
        required: [
          'name',
          'version',
          'client',
          'source',
          'target',
          'configDigest',
          'resolvedAt',
          'lockedAt',
          'integrity',
        ],
      },
    },
  },
  required: ['specVersion', 'entries'],
};
