/** Search for the set of blocks with the least error that stays within a budget, by few trials. */
import type { Block } from './search-set.js';

export interface BudgetSearch<B extends Block> {
  readonly blocks: readonly B[];
  /** Several orders, most promising first. */
  readonly orders: readonly (readonly B[])[];
  /** Whether the set may be asked about. A set that fits keeps fitting when blocks are removed. */
  readonly fits: (set: readonly B[]) => boolean;
  /** Asked once per set. */
  readonly errorOf: (set: readonly B[]) => Promise<number>;
}

const PARTS = 4;
const MOST_EXCHANGES = 4;

/**
 * Each order is taken as far as the budget allows. The set with the least error, if it has less than no set at all, is improved: a quarter of it makes room for what follows in its order.
 * Nothing else fits into the result, but for what was exchanged. A member that lowers no error stays: few samples do not show what it is good for.
 * In the order of `blocks`.
 */
export async function findBestWithin<B extends Block>({ blocks, orders, fits, errorOf }: BudgetSearch<B>): Promise<readonly B[]> {
  const known = new Map<string, number>();
  const ask = async (set: readonly B[]): Promise<number> => {
    const ordered = blocks.filter(block => set.includes(block));
    const key = ordered.map(({ name }) => name).join('\n');
    const error = known.get(key) ?? (await errorOf(ordered));
    known.set(key, error);
    return error;
  };
  let best: Found<B> = { order: [], set: [], error: await ask([]) };
  for (const order of orders) {
    const set = fill([], order, fits);
    const error = await ask(set);
    if (error < best.error) best = { order, set, error };
  }
  let left = best.set.length === 0 ? 0 : MOST_EXCHANGES;
  for (let part = 0; part < PARTS && left > 0; ) {
    left--;
    const set = exchange(best, part, fits);
    const error = await ask(set);
    if (error < best.error) [best, part] = [{ ...best, set, error }, 0];
    else part++;
  }
  return blocks.filter(block => best.set.includes(block));
}

interface Found<B extends Block> {
  readonly order: readonly B[];
  /** In that order. */
  readonly set: readonly B[];
  readonly error: number;
}

/** Without a part of the set, the last quarter first, but with what fits in its place. */
function exchange<B extends Block>({ order, set }: Found<B>, part: number, fits: BudgetSearch<B>['fits']): readonly B[] {
  const end = Math.ceil((set.length * (PARTS - part)) / PARTS);
  const out = set.slice(Math.floor((set.length * (PARTS - part - 1)) / PARTS), end);
  const others = set.filter(block => !out.includes(block));
  return fill(
    others,
    order.filter(block => !set.includes(block)),
    fits,
  );
}

function fill<B extends Block>(start: readonly B[], order: readonly B[], fits: BudgetSearch<B>['fits']): readonly B[] {
  const set = [...start];
  for (const block of order) if (fits([...set, block])) set.push(block);
  return set;
}
