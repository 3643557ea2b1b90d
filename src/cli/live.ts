/** What servers list right now, for review and comparison: read from them, never through what is approved. */
import path from 'node:path';
import type { Finding } from '../trust/findings.ts';
import type { ServerSpec, Surface } from '../types.ts';
import type { Config } from '../index.ts';
import { MidspanError, messageOf } from '../errors.ts';
import { VERSION } from '../version.ts';
import type { Context } from './context.ts';

/** Listed twice, since some servers say something else the second time. */
export type Looked =
  | { spec: ServerSpec; surfaces: readonly [Surface, Surface] }
  | { spec: ServerSpec; error: MidspanError };

/** @param clientInfo who asks; some servers list other things for other clients. */
export async function lookAt(
  { print, signal }: Context,
  specs: readonly ServerSpec[],
  clientInfo: { name: string; version: string },
): Promise<Looked[]> {
  const { openServer } = await import('../servers/index.ts');
  const { ANSWERABLE } = await import('../host/input.ts');
  const waiting = new Set(specs.map(({ label }) => label));
  const showWaiting = (): void =>
    print.status(waiting.size === 0 ? undefined : `Waiting for ${[...waiting].join(', ')}`);
  showWaiting();
  const look = async (spec: ServerSpec): Promise<Looked> => {
    const server = openServer(spec, { clientInfo, capabilities: ANSWERABLE });
    server.on((event) => {
      if (event.type !== 'warning') return;
      print.note({ style: 'yellow', text: 'warning' }, ` ${spec.label}: ${event.message}`);
    });
    try {
      await server.ready(signal);
      const first = await server.surface({ signal, refresh: true });
      return { spec, surfaces: [first, await server.surface({ signal, refresh: true })] };
    } catch (error) {
      return { spec, error: error instanceof MidspanError ? error : unknown(spec.label, error) };
    } finally {
      await server.close();
      waiting.delete(spec.label);
      showWaiting();
    }
  };
  const looked = await Promise.all(specs.map(look));
  print.status(undefined);
  signal.throwIfAborted();
  return looked;
}

/** Listed twice in each of two processes, as two clients in two locales and time zones; in the order they were listed. */
export type Twice =
  | { spec: ServerSpec; surfaces: readonly Surface[] }
  | { spec: ServerSpec; error: MidspanError };

/** Some servers list other things for other clients, languages, days or processes. */
export async function lookTwice(context: Context, specs: readonly ServerSpec[]): Promise<Twice[]> {
  const looks = await Promise.all(
    PLACES.map(({ client, env, language }) =>
      lookAt(
        context,
        specs.map((spec) => elsewhere(spec, env, language)),
        client,
      ),
    ),
  );
  return specs.map((spec, index) => {
    const found = looks.flatMap((look) => look[index] ?? []);
    const failed = found.find((look) => 'error' in look);
    if (failed !== undefined && 'error' in failed) return { spec, error: failed.error };
    return { spec, surfaces: found.flatMap((look) => ('surfaces' in look ? look.surfaces : [])) };
  });
}

const PLACES = [
  {
    client: { name: 'other-client', version: '1.0.0' },
    env: { LANG: 'de_DE.UTF-8', LC_ALL: 'de_DE.UTF-8', TZ: 'Asia/Tokyo' },
    language: 'de-DE,de',
  },
  {
    client: { name: 'midspan', version: VERSION },
    env: { LANG: 'C.UTF-8', LC_ALL: 'C.UTF-8', TZ: 'UTC' },
    language: 'en',
  },
] as const;

/** The same server, told that it is somewhere else. What the configuration says itself goes before it. */
function elsewhere(spec: ServerSpec, env: Record<string, string>, language: string): ServerSpec {
  const { transport } = spec;
  if (transport.type === 'stdio')
    return { ...spec, transport: { ...transport, env: { ...env, ...transport.env } } };
  return {
    ...spec,
    transport: { ...transport, headers: { 'accept-language': language, ...transport.headers } },
  };
}

const unknown = (label: string, cause: unknown): MidspanError =>
  new MidspanError({ code: 'internal', label, what: messageOf(cause), cause });

/** The servers that are meant: all that are not disabled, or those of the labels. */
export function serversOf({ servers }: Config, labels: readonly string[]): ServerSpec[] {
  const enabled = servers.filter(({ disabled }) => disabled !== true);
  for (const label of labels) {
    if (enabled.some((spec) => spec.label === label)) continue;
    const isDisabled = servers.some((spec) => spec.label === label);
    const configured = servers.map((spec) => spec.label).join(', ');
    throw new MidspanError({
      code: 'usage',
      what: isDisabled
        ? `the server ${JSON.stringify(label)} is disabled`
        : `there is no server labeled ${JSON.stringify(label)}`,
      next: configured === '' ? 'The configuration names no server' : `Configured are: ${configured}`,
    });
  }
  return labels.length === 0 ? enabled : enabled.filter(({ label }) => labels.includes(label));
}

/** Where the configuration stands; what is reached is written down from there. */
export const folderOf = ({ path: file }: Config): string | undefined =>
  file === undefined ? undefined : path.dirname(file);

export const lastOf = (surfaces: readonly Surface[]): Surface => surfaces.at(-1) ?? { serverInfo: {} };

/** Everything that a scan finds in what servers list, across servers too, by label. */
export async function findingsOf(
  listed: readonly { spec: ServerSpec; surface: Surface; approved?: boolean }[],
): Promise<Map<string, Finding[]>> {
  const { scanAll } = await import('../trust/scan/scan.ts');
  return scanAll(
    listed.map(({ spec: { label }, surface, approved = false }) => ({ label, surface, approved })),
  );
}
