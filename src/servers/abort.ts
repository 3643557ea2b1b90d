/** One listener per AbortSignal, however many calls share it: Node warns at eleven, and each listener is a leak. */

const callbacksOf = new WeakMap<AbortSignal, Set<() => void>>();

/** Runs `callback` once when the signal aborts, at once if it has. Returns how to stop waiting. */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  if (signal.aborted) {
    callback();
    return () => undefined;
  }
  let callbacks = callbacksOf.get(signal);
  if (callbacks === undefined) {
    const registered = new Set<() => void>();
    callbacks = registered;
    const abort = (): void => {
      callbacksOf.delete(signal);
      for (const each of registered) each();
    };
    signal.addEventListener('abort', abort, { once: true });
    callbacksOf.set(signal, registered);
    listenerOf.set(registered, abort);
  }
  const registered = callbacks;
  registered.add(callback);
  return () => {
    registered.delete(callback);
    if (registered.size > 0 || callbacksOf.get(signal) !== registered) return;
    callbacksOf.delete(signal);
    const listener = listenerOf.get(registered);
    if (listener !== undefined) signal.removeEventListener('abort', listener);
  };
}

const listenerOf = new WeakMap<Set<() => void>, () => void>();

/** The promise, or a rejection with `reason()` as soon as the signal aborts; the promise itself goes on. */
export function untilAbort<T>(
  promise: Promise<T>,
  signal: AbortSignal | undefined,
  reason: () => Error,
): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const stop = onAbort(signal, () => reject(reason()));
    promise.then(resolve, reject).finally(stop);
  });
}

/** What may end an exchange: an AbortSignal, or a Stop. */
export interface StopSignal {
  readonly aborted: boolean;
  readonly reason?: unknown;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** An AbortController and its signal in one, at a fraction of what the two cost: one for each request is most of its garbage. */
export class Stop implements StopSignal {
  aborted = false;
  readonly #listeners: (() => void)[] = [];

  abort(): void {
    if (this.aborted) return;
    this.aborted = true;
    for (const listener of this.#listeners.splice(0)) listener();
  }

  addEventListener(_: 'abort', listener: () => void): void {
    this.#listeners.push(listener);
  }

  removeEventListener(_: 'abort', listener: () => void): void {
    const place = this.#listeners.indexOf(listener);
    if (place !== -1) this.#listeners.splice(place, 1);
  }
}
