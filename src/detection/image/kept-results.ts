/** Keeps the last result of an object as long as the object lives, while all kept results together fit a budget. */

export interface KeptResults<Owner extends object, Result> {
  /** The kept result of the owner under this key, or the one that `make` gives, which is kept in its place if it fits. */
  getOrMake(owner: Owner, key: string, make: () => Result): Result;
}

interface Kept<Result> {
  readonly key: string;
  readonly result: Result;
}

/** Results of owners that are gone count until the garbage collector reports them. */
export function keepResults<Owner extends object, Result>(
  mostBytes: number,
  bytesOf: (result: Result) => number,
): KeptResults<Owner, Result> {
  const kept = new WeakMap<Owner, Kept<Result>>();
  const sizes = new WeakMap<Owner, { bytes: number }>();
  let bytes = 0;
  // Holds no result: it would live until the report.
  const gone = new FinalizationRegistry<{ readonly bytes: number }>(size => {
    bytes -= size.bytes;
  });
  const sizeOf = (owner: Owner): { bytes: number } => {
    const known = sizes.get(owner);
    if (known !== undefined) return known;
    const size = { bytes: 0 };
    sizes.set(owner, size);
    gone.register(owner, size);
    return size;
  };
  return {
    getOrMake(owner, key, make) {
      const known = kept.get(owner);
      if (known?.key === key) return known.result;
      const result = make();
      const size = sizeOf(owner);
      const [former, own] = [size.bytes, bytesOf(result)];
      if (bytes - former + own > mostBytes) return result;
      kept.set(owner, { key, result });
      bytes += own - former;
      size.bytes = own;
      return result;
    },
  };
}
