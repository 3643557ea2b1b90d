/** Servers on this machine that speak Chat Completions, found on the ports where they listen when nothing is configured. */
import { setMaxListeners } from 'node:events';
import { MidspanError } from '../errors.ts';
import { listModels } from './model-list.ts';

export interface LocalServer {
  name: string;
  port: number;
}

/** In the order in which one is taken. */
export const LOCAL_SERVERS: readonly LocalServer[] = [
  { name: 'Ollama', port: 11434 },
  { name: 'LM Studio', port: 1234 },
  { name: 'vLLM', port: 8000 },
  { name: 'llama.cpp', port: 8080 },
];

/** How long all of them together are waited for. Milliseconds. */
export const LOCAL_WITHIN = 1_000;

export interface FoundServer extends LocalServer {
  /** With `/v1`. */
  baseUrl: string;
  /** At least one. */
  models: string[];
}

/**
 * Which servers are there, in the order given. What does not answer in time with a list of models is not there.
 * No key is sent.
 * @throws MidspanError `cancelled`.
 */
export async function findLocalServers(
  servers: readonly LocalServer[],
  { signal, within = LOCAL_WITHIN }: { signal: AbortSignal; within?: number },
): Promise<FoundServer[]> {
  if (servers.length === 0) return [];
  const bound = new AbortController();
  setMaxListeners(0, bound.signal); // all of them listen to it
  const stop = (): void => bound.abort();
  const timer = setTimeout(stop, within);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    const found = await Promise.all(servers.map((server) => look(server, bound.signal)));
    if (signal.aborted)
      throw new MidspanError({ code: 'cancelled', what: 'the search for a local model was canceled' });
    return found.filter((server) => server !== undefined);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}

async function look({ name, port }: LocalServer, signal: AbortSignal): Promise<FoundServer | undefined> {
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  try {
    const models = await listModels(name, { env: {}, baseUrl }, { signal, attempts: 1 });
    return models.length === 0 ? undefined : { name, port, baseUrl, models };
  } catch {
    return undefined; // nothing listens there, or something else does
  }
}
