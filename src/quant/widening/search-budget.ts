/** Search for the set of blocks with the least error whose cost stays within a budget. */
import { type Block, byBenefitPerCost, costOf, removeNeedless } from './search-set.js';

export interface BudgetSearch<B extends Block> {
  readonly blocks: readonly B[];
  /** Several orders, most promising first: each is taken as far as the budget allows, and the best one is improved. */
  readonly orders: readonly (readonly B[])[];
  readonly budget: number;
  /** Asked once per set. */
  readonly errorOf: (set: readonly B[]) => Promise<number>;
}

const MOST_ADDITIONS = 30;

/** The result is 1-minimal: without any one of its blocks the error is larger. In the order of `blocks`. */
export async function findBestWithin<B extends Block>({ blocks, orders, budget, errorOf }: BudgetSearch<B>): Promise<readonly B[]> {
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
    const set = fill(order, budget);
    if ((await ask(set)) < (await ask(best))) best = set;
  }
  const reduce = async (set: readonly B[]): Promise<readonly B[]> => {
    const error = await ask(set);
    return removeNeedless(set, async without => (await ask(without)) <= error);
  };
  best = await reduce(best);
  const open = byBenefitPerCost(blocks).filter(block => !best.includes(block) && costOf([...best, block]) <= budget);
  for (const block of open.slice(0, MOST_ADDITIONS)) {
    const next = [...best, block];
    if (costOf(next) <= budget && (await ask(next)) < (await ask(best))) best = next;
  }
  best = await reduce(best);
  return blocks.filter(block => best.includes(block));
}

function fill<B extends Block>(order: readonly B[], budget: number): readonly B[] {
  const set: B[] = [];
  for (const block of order) if (costOf([...set, block]) <= budget) set.push(block);
  return set;
}
