/** Search for the set of blocks with the least error that stays within a budget. */
import { type Block, byBenefitPerCost, removeNeedless } from './search-set.js';

export interface BudgetSearch<B extends Block> {
  readonly blocks: readonly B[];
  /** Several orders, most promising first: each is taken as far as `fits` allows, and the best one is improved. */
  readonly orders: readonly (readonly B[])[];
  /** Whether the set may be asked about. A set that fits keeps fitting when blocks are removed. */
  readonly fits: (set: readonly B[]) => boolean;
  /** Asked once per set. */
  readonly errorOf: (set: readonly B[]) => Promise<number>;
}

const MOST_ADDITIONS = 30;

/** The result is 1-minimal: without any one of its blocks the error is larger. In the order of `blocks`. */
export async function findBestWithin<B extends Block>({ blocks, orders, fits, errorOf }: BudgetSearch<B>): Promise<readonly B[]> {
  const known = new Map<string, number>();
  const ask = async (set: readonly B[]): Promise<number> => {
    const ordered = blocks.filter(block => set.includes(block));
    const key = ordered.map(({ name }) => name).join('\n');
    const error = known.get(key) ?? (await errorOf(ordered));
    known.set(key, error);
    return error;
  };
  let best: readonly B[] = [];
  for (const order of orders) {
    const set = fill(order, fits);
    if ((await ask(set)) < (await ask(best))) best = set;
  }
  const reduce = async (set: readonly B[]): Promise<readonly B[]> => {
    const error = await ask(set);
    return removeNeedless(set, async without => (await ask(without)) <= error);
  };
  best = await reduce(best);
  const open = byBenefitPerCost(blocks).filter(block => !best.includes(block) && fits([...best, block]));
  for (const block of open.slice(0, MOST_ADDITIONS)) {
    const next = [...best, block];
    if (fits(next) && (await ask(next)) < (await ask(best))) best = next;
  }
  best = await reduce(best);
  return blocks.filter(block => best.includes(block));
}

function fill<B extends Block>(order: readonly B[], fits: BudgetSearch<B>['fits']): readonly B[] {
  const set: B[] = [];
  for (const block of order) if (fits([...set, block])) set.push(block);
  return set;
}
