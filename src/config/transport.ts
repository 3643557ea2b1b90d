/** How a server is reached, once all keys of its entry are read: what fits together, and what a process or request needs. */
import path from 'node:path';
import type { HttpTransport, ServerSpec, StdioTransport } from '../types.ts';
import { complain, type EntryReading, type Path, unread } from './fields.ts';
import type { Entry } from './syntax.ts';

/** What the keys of an entry add up to, before it is known whether they fit together. */
export interface Draft {
  command?: string;
  args: string[];
  env: Map<string, string>;
  cwd?: string;
  url?: string;
  headers: Map<string, string>;
  type?: 'stdio' | 'http' | 'sse';
  rest: Omit<ServerSpec, 'label' | 'transport'>;
}

const STDIO_KEYS = ['command', 'args', 'env', 'env_vars', 'cwd'];
const HTTP_KEYS = ['url', 'headers', 'http_headers', 'env_http_headers', 'bearer_token_env_var'];

/** Undefined when there is none that could work; the problems say why. */
export function transportOf(
  draft: Draft,
  entry: Entry,
  entries: ReadonlyMap<string, Entry>,
  path: Path,
  reading: EntryReading,
): StdioTransport | HttpTransport | undefined {
  const has = { command: entries.has('command'), url: entries.has('url') };
  if (has.command && has.url)
    return complain(
      path,
      entry.place,
      reading,
      'has both a command and a url; a server is reached by one of them',
    );
  if (!has.command && !has.url) {
    return complain(
      path,
      entry.place,
      reading,
      'has neither a command (a program) nor a url (an HTTP server)',
    );
  }
  if (draft.type !== undefined && (draft.type === 'stdio') !== has.command) {
    return complain(
      [...path, 'type'],
      entries.get('type')?.place,
      reading,
      `is ${draft.type}, which needs a ${has.command ? 'url' : 'command'}`,
    );
  }
  for (const key of has.command ? HTTP_KEYS : STDIO_KEYS) {
    const misplaced = entries.get(key);
    if (misplaced === undefined) continue;
    unread(
      [...path, key],
      misplaced.place,
      reading,
      `has no meaning for a server with a ${has.command ? 'command' : 'url'}`,
    );
  }
  return has.command
    ? stdioTransport(draft, entries, path, reading)
    : httpTransport(draft, entries, path, reading);
}

function stdioTransport(
  draft: Draft,
  entries: ReadonlyMap<string, Entry>,
  at: Path,
  reading: EntryReading,
): StdioTransport | undefined {
  for (const name of draft.env.keys()) {
    const isName = name !== '' && !/[=\0]/.test(name);
    if (!isName)
      complain(
        [...at, 'env', name],
        entries.get('env')?.place,
        reading,
        'is not a name of an environment variable',
      );
  }
  if (draft.command?.trim() === '')
    complain([...at, 'command'], entries.get('command')?.place, reading, 'must not be empty');
  if (draft.command === undefined) return undefined;
  const home = (file: string): string => file.replace(/^~(?=$|[/\\])/, () => reading.home);
  return {
    type: 'stdio',
    command: home(draft.command),
    args: draft.args,
    env: Object.fromEntries(draft.env),
    cwd: path.resolve(reading.base, home(draft.cwd ?? '.')),
  };
}

function httpTransport(
  draft: Draft,
  entries: ReadonlyMap<string, Entry>,
  path: Path,
  reading: EntryReading,
): HttpTransport | undefined {
  for (const [name, value] of draft.headers) {
    const place = entries.get('headers')?.place;
    if (!/^[!#$%&'*+.^_`|~\w-]+$/.test(name))
      complain([...path, 'headers', name], place, reading, 'is not a name of a header');
    else if (/[^\t\x20-\x7e\x80-\xff]/.test(value)) {
      complain(
        [...path, 'headers', name],
        place,
        reading,
        'holds a character that a header cannot carry, such as a line break',
      );
    }
  }
  if (draft.url === undefined) return undefined;
  const place = entries.get('url')?.place;
  const url = URL.canParse(draft.url) ? new URL(draft.url) : undefined;
  // One that is switched off may lack the variables that make it an address.
  if (!reading.disabled && !['http:', 'https:'].includes(url?.protocol ?? '')) {
    return complain([...path, 'url'], place, reading, 'is not an http or https address');
  }
  if (url !== undefined && (url.username !== '' || url.password !== '')) {
    return complain(
      [...path, 'url'],
      place,
      reading,
      'holds a user name or password; send them in `headers` (Authorization)',
    );
  }
  return {
    type: draft.type === 'sse' ? 'sse' : 'http',
    url: draft.url,
    headers: Object.fromEntries(draft.headers),
  };
}
