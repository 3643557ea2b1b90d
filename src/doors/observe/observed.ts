/** Endpoints as they are served: each request is counted while it runs, told of, and traced where somebody listens. */
import type { Served } from '../../mcp/serving.ts';
import type { Exchange } from '../mcp/client.ts';
import type { Endpoint } from '../mcp/endpoint.ts';
import type { Log } from './log.ts';
import { NAME_LONGEST, problemOf } from './problem.ts';
import type { Telemetry } from './telemetry.ts';

export interface Observer {
  /** The same endpoint, observed; the same object for the same endpoint. */
  observed(endpoint: Endpoint): Endpoint;
  /** Resolves when no request runs, or the signal aborts. */
  idle(signal: AbortSignal): Promise<void>;
  readonly running: number;
}

export interface ObserverOptions {
  /** How clients reach us: `tcp` for HTTP, `pipe` for stdio. */
  transport: 'tcp' | 'pipe';
  log: Log;
  /** Undefined where nobody listens. */
  telemetry: Telemetry | undefined;
}

export function observer({ transport, log, telemetry }: ObserverOptions): Observer {
  const known = new WeakMap<Endpoint, Endpoint>();
  const waiting = new Set<() => void>();
  let running = 0;
  const isTold = log.has('debug');

  const ended = (): void => {
    running -= 1;
    if (running === 0) for (const go of waiting) go();
  };
  const traced = (endpoint: Endpoint, exchange: Exchange): Promise<Served> => {
    if (telemetry === undefined) return endpoint.answer(exchange);
    const { request, client } = exchange;
    const session = client.id === client.principal.id ? undefined : client.id;
    return telemetry.request(
      { request, transport, label: endpoint.label, session, version: client.serving.version },
      (meta) =>
        endpoint.answer(meta === request.meta ? exchange : { ...exchange, request: { ...request, meta } }),
      () => exchange.signal.aborted,
    );
  };
  const told = async (endpoint: Endpoint, exchange: Exchange): Promise<Served> => {
    const start = performance.now();
    const served = await traced(endpoint, exchange);
    const { request, client } = exchange;
    const { name } = request.params;
    const problem = problemOf(served, exchange.signal.aborted);
    log('debug', request.method, {
      ...(typeof name === 'string' && { name: name.slice(0, NAME_LONGEST) }),
      ...(endpoint.label !== undefined && { server: endpoint.label }),
      principal: client.principal.name,
      version: client.serving.version,
      milliseconds: Math.round((performance.now() - start) * 10) / 10,
      ...(problem !== undefined && { problem }),
    });
    return served;
  };
  return {
    observed(endpoint) {
      let own = known.get(endpoint);
      if (own === undefined) {
        const answer = (exchange: Exchange): Promise<Served> => {
          running += 1;
          const served = isTold ? told(endpoint, exchange) : traced(endpoint, exchange);
          return served.finally(ended);
        };
        own = { ...endpoint, answer };
        known.set(endpoint, own);
      }
      return own;
    },
    get running() {
      return running;
    },
    idle: (signal) =>
      new Promise((resolve) => {
        const go = (): void => {
          waiting.delete(go);
          signal.removeEventListener('abort', go);
          // Whoever asked writes the last answer down first.
          setImmediate(resolve);
        };
        if (running === 0 || signal.aborted) return resolve();
        waiting.add(go);
        signal.addEventListener('abort', go);
      }),
  };
}
