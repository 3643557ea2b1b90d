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
