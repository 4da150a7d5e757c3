/** Work that many callers ask for at once, and that is done one after the other. */

/** A function that begins each work when the one before has ended. An error is that of its caller alone. */
export function makeTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return work => {
    const own = last.then(work);
    last = own.catch(() => undefined);
    return own;
  };
}
