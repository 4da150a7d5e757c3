/** Work on many items whose results are taken in their order, while later ones are under way. */

export interface InOrder<Item, Result> {
  /** Items under way at once. With 1, an item begins after the result before it was taken. */
  readonly atOnce: number;
  readonly begin: (item: Item, index: number) => Promise<Result>;
  readonly take: (result: Result, item: Item, index: number) => Promise<void> | void;
}

/** @throws the first error, in the order of the items. What is still under way then is not waited for. */
export async function takeInOrder<Item, Result>(items: readonly Item[], { atOnce, begin, take }: InOrder<Item, Result>): Promise<void> {
  const begun: Promise<Result>[] = [];
  for (const [index, item] of items.entries()) {
    while (begun.length < Math.min(items.length, index + Math.max(1, atOnce))) {
      const next = begun.length;
      const result = begin(items[next] as Item, next);
      // An error is reported when its turn comes.
      result.catch(() => undefined);
      begun.push(result);
    }
    await take(await (begun[index] as Promise<Result>), item, index);
    // What was taken may be freed.
    delete begun[index];
  }
}
