/** Tells clients of changes: of a list only when what they are shown of it has become another. */
import type { CoreHost } from '../../host/host.ts';
import type { ListKind } from '../../mcp/serving.ts';
import type { Principal } from '../access/principal.ts';
import type { EndpointChange } from './endpoint.ts';
import type { View } from './view.ts';

/** Catalogs that change in a burst count as one change. Milliseconds. */
const BURST = 250;

type List = 'tools' | 'prompts' | 'resources';
const KINDS: Readonly<Record<List, readonly ListKind[]>> = {
  tools: ['tools'],
  prompts: ['prompts'],
  resources: ['resources', 'resourceTemplates'],
};

interface Audience {
  principal: Principal;
  listeners: Set<(change: EndpointChange) => void>;
  /** What was shown last, by list. */
  shown: Map<List, string>;
}

export function changesOf(
  host: CoreHost,
  view: View,
  textOf: (kind: ListKind, principal: Principal) => string,
): { on(principal: Principal, listener: (change: EndpointChange) => void): () => void } {
  /** By filter: whoever is shown the same hears the same. */
  const audiences = new Map<string, Audience>();
  let timer: NodeJS.Timeout | undefined;
  let stop: (() => void) | undefined;

  const look = (principal: Principal): Map<List, string> =>
    new Map(
      Object.entries(KINDS).map(([list, kinds]) => [
        list as List,
        kinds.map((kind) => textOf(kind, principal)).join('\n'),
      ]),
    );
  const tell = (audience: Audience, change: EndpointChange): void => {
    for (const listener of audience.listeners) listener(change);
  };
  const compare = (): void => {
    timer = undefined;
    for (const audience of audiences.values()) {
      const now = look(audience.principal);
      for (const [list, text] of now) if (audience.shown.get(list) !== text) tell(audience, { list });
      audience.shown = now;
    }
  };
  const start = (): (() => void) => {
    const off = host.on((event) => {
      if (event.type === 'catalog') timer ??= setTimeout(compare, BURST).unref();
      if (event.type !== 'resource-updated' && event.type !== 'log') return;
      if (view.label !== undefined && event.label !== view.label) return;
      const { label } = event;
      for (const audience of audiences.values()) {
        if (!audience.principal.reaches(label)) continue;
        if (event.type === 'resource-updated') tell(audience, { updated: view.shownUri(label, event.uri) });
        else {
          const { level, logger, data } = event;
          const named = view.label === undefined ? [label, logger].filter(Boolean).join('.') : logger;
          tell(audience, { log: { level, data, ...(named !== undefined && { logger: named }) } });
        }
      }
    });
    return () => {
      off();
      clearTimeout(timer);
      timer = undefined;
    };
  };

  return {
    on(principal, listener) {
      stop ??= start();
      const { filter } = principal;
      let audience = audiences.get(filter);
      if (audience === undefined) {
        audience = { principal, listeners: new Set(), shown: look(principal) };
        audiences.set(filter, audience);
      }
      audience.listeners.add(listener);
      return () => {
        audience.listeners.delete(listener);
        if (audience.listeners.size > 0) return;
        audiences.delete(filter);
        if (audiences.size > 0) return;
        stop?.();
        stop = undefined;
      };
    },
  };
}
