/** The search for the cheapest set: against all sets, on random targets, and against the order by own error. */
import fc from 'fast-check';
import { findBestWithin } from '../../../../src/quant/widening/search-budget.js';
import { type Block, byBenefitPerCost, costOf, findCheapestSet, removeNeedless } from '../../../../src/quant/widening/search-set.js';

interface Valued extends Block {
  /** What it really takes away; `benefit` is only an estimate. */
  readonly value: number;
}

/** Blocks of random costs and values; neighbors may share an item, and estimates are wrong by up to a factor of three. */
const blocksOf = (most: number) =>
  fc
    .array(
      fc.record({
        cost: fc.integer({ min: 1, max: 100 }),
        value: fc.integer({ min: 0, max: 100 }),
        wrong: fc.double({ min: 0.3, max: 3, noNaN: true }),
        shared: fc.boolean(),
      }),
      { minLength: 1, maxLength: most },
    )
    .map(list =>
      list.map(
        ({ cost, value, wrong, shared }, index): Valued => ({
          name: `b${index}`,
          items: new Map([[`own ${index}`, cost], ...(shared ? [[`shared ${index >> 1}`, 20] as const] : [])]),
          benefit: value * wrong,
          value,
        }),
      ),
    );

const sum = (set: readonly Valued[]): number => set.reduce((total, { value }) => total + value, 0);
const subsets = (blocks: readonly Valued[]): readonly (readonly Valued[])[] =>
  Array.from({ length: 2 ** blocks.length }, (_, bits) => blocks.filter((_block, i) => ((bits >> i) & 1) === 1));

async function search(blocks: readonly Valued[], goal: number) {
  const trials: string[] = [];
  const byValue = [...blocks].sort((a, b) => b.benefit - a.benefit);
  const set = await findCheapestSet({
    blocks,
    orders: [byBenefitPerCost(blocks), byValue],
    holds: async tried => {
      trials.push(tried.map(({ name }) => name).join());
      return sum(tried) >= goal;
    },
  });
  return { set, trials };
}

it('with up to ten blocks the set costs as little as the best of all sets, and no set is tried twice', async () => {
  await fc.assert(
    fc.asyncProperty(blocksOf(8), fc.double({ min: 0, max: 1, noNaN: true }), async (blocks, part) => {
      const goal = part * sum(blocks);
      const { set = [], trials } = await search(blocks, goal);
      const best = Math.min(
        ...subsets(blocks)
          .filter(one => sum(one) >= goal)
          .map(costOf),
      );
      expect(costOf(set)).toBe(best);
      expect(new Set(trials).size).toBe(trials.length);
    }),
    { numRuns: 60 },
  );
});

it('with more blocks the set holds, is 1-minimal, and is as cheap as the shortest prefix of each order', async () => {
  await fc.assert(
    fc.asyncProperty(blocksOf(40), fc.double({ min: 0.05, max: 1, noNaN: true }), async (blocks, part) => {
      const goal = part * sum(blocks);
      const { set = [] } = await search(blocks, goal);
      expect(sum(set)).toBeGreaterThanOrEqual(goal);
      for (const block of set) expect(sum(set.filter(other => other !== block))).toBeLessThan(goal);
      for (const order of [byBenefitPerCost(blocks), [...blocks].sort((a, b) => b.benefit - a.benefit)]) {
        const prefix = order.slice(0, order.findIndex((_, index) => sum(order.slice(0, index + 1)) >= goal) + 1);
        expect(costOf(set)).toBeLessThanOrEqual(costOf(prefix));
      }
    }),
    { numRuns: 60 },
  );
});

it('a target that nothing holds has no set, one that holds anyway has the empty one, and neither takes a second trial of a set', async () => {
  const blocks: readonly Valued[] = [{ name: 'a', items: new Map([['a', 1]]), benefit: 1, value: 1 }];
  expect(await search(blocks, 2)).toEqual({ set: undefined, trials: ['', 'a'] });
  expect(await search(blocks, 0)).toEqual({ set: [], trials: [''] });
});

it('ends where the sum of costs depends on their order', async () => {
  let reads = 0;
  // (0.1 + 0.2) + 0.3 is more than (0.3 + 0.2) + 0.1 in double.
  const blocks = [0.3, 0.2, 0.1].map((cost, index) => ({
    name: `b${index}`,
    items: new Map([[`i${index}`, cost]]),
    get benefit() {
      if (++reads > 10_000) throw new Error('the search does not end');
      return cost ** 3;
    },
  }));
  const set = await findCheapestSet({ blocks, orders: [blocks], holds: async one => one.length === blocks.length });
  expect(set).toEqual(blocks);
});

it('where more is not always better, the set still holds and is 1-minimal', async () => {
  const names = 'abcdefghijklmn';
  const blocks = [...names].map((name, index): Valued => ({ name, items: new Map([[name, index + 1]]), benefit: 1, value: 0 }));
  const holds = async (set: readonly Block[]): Promise<boolean> => {
    const has = (name: string): boolean => set.some(block => block.name === name);
    return set.length === blocks.length || (has('c') && has('f') && !has('a')) || (has('m') && has('a'));
  };
  const set = (await findCheapestSet({ blocks, orders: [blocks, [...blocks].reverse()], holds })) ?? [];
  expect(await holds(set)).toBe(true);
  for (const block of set) expect(await holds(set.filter(other => other !== block))).toBe(false);
});

it('within a budget the error is at most that of each order, the cost fits, and trials are few', async () => {
  await fc.assert(
    fc.asyncProperty(blocksOf(20), fc.double({ min: 0.1, max: 0.9, noNaN: true }), async (blocks, part) => {
      const budget = part * costOf(blocks);
      const errorOf = async (set: readonly Valued[]): Promise<number> => 1 - sum(set) / Math.max(1, sum(blocks));
      const orders = [byBenefitPerCost(blocks), [...blocks].sort((a, b) => b.benefit - a.benefit)];
      const set = await findBestWithin({ blocks, orders, fits: some => costOf(some) <= budget, errorOf });
      expect(costOf(set)).toBeLessThanOrEqual(budget);
      for (const order of orders) {
        const greedy: Valued[] = [];
        for (const block of order) if (costOf([...greedy, block]) <= budget) greedy.push(block);
        expect(await errorOf(set)).toBeLessThanOrEqual(await errorOf(greedy));
      }
    }),
    { numRuns: 40 },
  );
});

it('a share widens nothing where every set has more error than none', async () => {
  const blocks: readonly Block[] = ['a', 'b', 'c'].map(name => ({ name, items: new Map([[name, 1]]), benefit: 1 }));
  const set = await findBestWithin({ blocks, orders: [blocks], fits: () => true, errorOf: async some => some.length });
  expect(set).toEqual([]);
});

it('tries each member alone once after the last removal', async () => {
  const needed = new Set(Array.from({ length: 20 }, (_, index) => `b${(index * 37 + 5) % 180}`));
  const blocks: readonly Block[] = Array.from({ length: 180 }, (_, index) => ({
    name: `b${index}`,
    items: new Map([[`i${index}`, 1]]),
    benefit: 1,
  }));
  const trials: { readonly members: number; readonly holds: boolean }[] = [];
  const set = await removeNeedless(blocks, async some => {
    const holds = [...needed].every(name => some.some(block => block.name === name));
    trials.push({ members: some.length, holds });
    return holds;
  });
  expect(new Set(set.map(({ name }) => name))).toEqual(needed);
  const after = trials.slice(trials.findLastIndex(({ holds }) => holds) + 1).filter(({ members }) => members === needed.size - 1);
  expect(after).toHaveLength(needed.size);
});
