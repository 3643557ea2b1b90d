/**
 * What a gateway keeps beside the configuration: the digest of its token, and the keys that it seals with. One small file
 * for its owner alone, which several gateways on one folder share.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { MidspanError, messageOf } from '../errors.ts';
import { rewriteInTurn } from './draft.ts';

/** A key seals so long, and then opens as long again. Milliseconds. */
export const KEY_HOLDS = 30 * 24 * 60 * 60_000;
/** What other processes wrote is seen this late. Milliseconds. */
export const LOOKED_AT = 1_000;
const KEY_BYTES = 32;

export interface SealKey {
  id: string;
  /** 32 bytes. */
  key: Buffer;
}

export interface GatewayFile {
  /**
   * The keys, newest first: the first one seals, any of them opens. Made at the first use, and anew when the newest is old.
   * @throws MidspanError `config` when the file cannot be read or written.
   */
  sealKeys(): readonly SealKey[];
  /** The digest of the token that counts; undefined before there was one. @throws MidspanError `config`. */
  tokenDigest(): string | undefined;
  /**
   * Keeps the digest of a new token, unless there is one and it is not to be replaced.
   * @returns whether it was kept.
   * @throws MidspanError `config`.
   */
  keepToken(digest: string, options?: { replace?: boolean }): boolean;
}

interface Kept {
  token: string | undefined;
  keys: { id: string; key: string; made: number }[];
}

/**
 * @param path of the file; undefined keeps everything in memory.
 * @param now milliseconds since 1970.
 */
export function gatewayFile(path: string | undefined, now: () => number = Date.now): GatewayFile {
  let kept: Kept = { token: undefined, keys: [] };
  let keys: readonly SealKey[] = [];
  let looked = -Infinity;
  let seen = '';
  const take = (next: Kept): void => {
    kept = next;
    keys = next.keys.map(({ id, key }) => ({ id, key: Buffer.from(key, 'base64') }));
  };
  const look = (): void => {
    if (path === undefined || now() - looked < LOOKED_AT) return;
    const stamp = stampOf(path);
    if (stamp !== seen) {
      take(read(path));
      seen = stamp;
    }
    looked = now();
  };
  /** @param edit of what is there when our turn has come; undefined leaves it as it is. */
  const change = (edit: (before: Kept) => Kept | undefined): void => {
    if (path === undefined) return take(edit(kept) ?? kept);
    let next = kept;
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      rewriteInTurn(path, () => {
        const before = read(path);
        next = edit(before) ?? before;
        return JSON.stringify(next);
      });
    } catch (error) {
      if (error instanceof MidspanError) throw error;
      throw problem(path, `cannot be written: ${messageOf(error)}`);
    }
    take(next);
    seen = stampOf(path);
  };
  const isDue = ({ keys: [newest] }: Kept): boolean =>
    newest === undefined || now() - newest.made >= KEY_HOLDS || newest.made > now() + KEY_HOLDS;
  return {
    sealKeys() {
      look();
      if (isDue(kept)) change((before) => (isDue(before) ? withNewKey(before, now()) : undefined));
      return keys;
    },
    tokenDigest() {
      look();
      return kept.token;
    },
    keepToken(digest, { replace = false } = {}) {
      let isKept = false;
      change((before) => {
        isKept = replace || before.token === undefined;
        return isKept ? { ...before, token: digest } : undefined;
      });
      return isKept;
    },
  };
}

/** One key before the newest still opens, unless it is too old for anything that it sealed. */
function withNewKey({ token, keys }: Kept, now: number): Kept {
  const made = {
    id: randomBytes(6).toString('hex'),
    key: randomBytes(KEY_BYTES).toString('base64'),
    made: now,
  };
  const previous = keys.slice(0, 1).filter((key) => now - key.made < 2 * KEY_HOLDS);
  return { token, keys: [made, ...previous] };
}

function stampOf(path: string): string {
  const facts = statSync(path, { throwIfNoEntry: false });
  return facts === undefined ? '' : `${facts.ino} ${facts.mtimeMs} ${facts.size}`;
}

function read(path: string): Kept {
  let text: string;
  try {
    // Whoever made it wider takes it back.
    if (process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600);
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { token: undefined, keys: [] };
    throw problem(path, `cannot be read: ${messageOf(error)}`);
  }
  const value = parsed(text);
  if (value === undefined) throw problem(path, 'holds something else');
  return value;
}

function parsed(text: string): Kept | undefined {
  try {
    const { token, keys } = JSON.parse(text) as Partial<Record<keyof Kept, unknown>>;
    if (token !== undefined && typeof token !== 'string') return undefined;
    return Array.isArray(keys) && keys.every(isKey) ? { token, keys } : undefined;
  } catch {
    return undefined;
  }
}

function isKey(value: unknown): value is Kept['keys'][number] {
  const { id, key, made } = (value ?? {}) as Record<string, unknown>;
  return (
    typeof id === 'string' &&
    typeof key === 'string' &&
    Buffer.from(key, 'base64').length === KEY_BYTES &&
    typeof made === 'number'
  );
}

const problem = (path: string, what: string): MidspanError =>
  new MidspanError({
    code: 'config',
    what: `the file of the gateway ${path} ${what}`,
    next: 'See to it that it belongs to you, or move it away: then a new token is made',
  });
