/** Listeners of abort signals, also many for one signal: an EventTarget compares each new listener with all existing ones. */
const listeners = new WeakMap<AbortSignal, Set<() => void>>();

/** Calls `listener` when the signal, which is not yet aborted, is aborted. @returns a function that removes the listener. */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  const known = listeners.get(signal) ?? listenTo(signal);
  known.add(listener);
  return () => known.delete(listener);
}

function listenTo(signal: AbortSignal): Set<() => void> {
  const own = new Set<() => void>();
  listeners.set(signal, own);
  const callAll = (): void => {
    for (const listener of [...own]) listener();
    own.clear();
  };
  signal.addEventListener('abort', callAll, { once: true });
  return own;
}

/** Waits for `work` or for the signal, whichever comes first. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | 'aborted'> {
  if (signal.aborted) return 'aborted';
  let forget: () => void = () => undefined;
  const aborted = new Promise<'aborted'>(resolve => {
    forget = onAbort(signal, () => resolve('aborted'));
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    forget();
  }
}
