/** What servers list right now, for review and comparison: read from them, never through what is approved. */
import type { ServerSpec, Surface } from '../types.ts';
import type { Config } from '../index.ts';
import { MidspanError, messageOf } from '../errors.ts';
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
