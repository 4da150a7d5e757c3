/** Search for the cheapest set of blocks that holds a target, by as few trials as possible. */

export interface Block {
  readonly name: string;
  /** What it makes wider, with costs above 0. Blocks may share items; a set pays for each once. */
  readonly items: ReadonlyMap<string, number>;
  /** Estimated part of the error that it takes away. It guides the search, and decides nothing. */
  readonly benefit: number;
}

export interface SetSearch<B extends Block> {
  readonly blocks: readonly B[];
  /** The blocks in several orders, most promising first. The set is at most as expensive as the shortest prefix of each that holds. */
  readonly orders: readonly (readonly B[])[];
  /** Whether the target holds with these blocks. Asked once per set. */
  readonly holds: Ask<B>;
}

type Ask<B extends Block> = (set: readonly B[]) => Promise<boolean>;

/** Up to so many blocks, every cheaper set is tried or excluded by a larger one that failed. */
const EXACT_UP_TO = 10;
const MOST_EXCHANGES = 30;
const EXCHANGES_PER_BLOCK = 2;

export function costOf(set: readonly Block[]): number {
  const items = new Map(set.flatMap(({ items }) => [...items]));
  return [...items.values()].reduce((sum, cost) => sum + cost, 0);
}

/** Most benefit per cost first; equal ones keep their places. */
export function byBenefitPerCost<B extends Block>(blocks: readonly B[]): readonly B[] {
  return [...blocks].sort((a, b) => ratioOf(b) - ratioOf(a));
}

function ratioOf(block: Block): number {
  return block.benefit / costOf([block]);
}

/**
 * The result is 1-minimal: without any one of its blocks the target does not hold. With at most 10 blocks it is the cheapest of all sets, if larger sets
 * hold whatever smaller ones hold. In the order of `blocks`; undefined if all blocks together do not hold the target.
 *
 * Bisection along each order, removal of what is not needed as in delta debugging (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing
 * Input", 2002), and exchanges of an expensive block for cheaper ones. At the end each block is tried alone.
 */
export async function findCheapestSet<B extends Block>({ blocks, orders, holds }: SetSearch<B>): Promise<readonly B[] | undefined> {
  const known = new Map<string, boolean>();
  const ask = async (set: readonly B[]): Promise<boolean> => {
    const ordered = inOrder(blocks, set);
    const key = ordered.map(({ name }) => name).join('\n');
    const answer = known.get(key) ?? (await holds(ordered));
    known.set(key, answer);
    return answer;
  };
  if (await ask([])) return [];
  if (!(await ask(blocks))) return undefined;
  let best = blocks;
  for (const order of orders) best = await cutOrder(order, best, ask);
  best = await removeNeedless(best, ask);
  best = blocks.length <= EXACT_UP_TO ? await tryAllCheaper(blocks, best, ask) : await removeSingle(await exchange(blocks, best, ask), ask);
  return inOrder(blocks, best);
}

function inOrder<B extends Block>(blocks: readonly B[], set: readonly B[]): readonly B[] {
  const members = new Set(set);
  return blocks.filter(block => members.has(block));
}

/** The shortest prefix that holds, found by bisection, if it is cheaper than `best`. */
async function cutOrder<B extends Block>(order: readonly B[], best: readonly B[], ask: Ask<B>): Promise<readonly B[]> {
  const limit = costOf(best);
  let longest = order.length;
  while (longest > 0 && costOf(order.slice(0, longest)) >= limit) longest--;
  if (longest === 0 || !(await ask(order.slice(0, longest)))) return best;
  return shorten([], order.slice(0, longest), ask);
}

/**
 * Removes runs of blocks, then single ones, until none can be removed; those with the least benefit per cost first. Every run of a length is tried before
 * shorter ones, also behind one that is needed: figures of few images are not monotone, and one run can make up for another.
 */
export async function removeNeedless<B extends Block>(set: readonly B[], holds: Ask<B>): Promise<readonly B[]> {
  let left = [...byBenefitPerCost(set)].reverse();
  for (let length = Math.floor(left.length / 4); length > 1; length = Math.floor(length / 2)) {
    for (let start = 0; start < left.length; ) {
      const without = [...left.slice(0, start), ...left.slice(start + length)];
      if (await holds(without)) left = without;
      else start += length;
    }
  }
  return removeSingle(left, holds);
}

/** Goes around until every block has been needed since the last one was removed. */
async function removeSingle<B extends Block>(set: readonly B[], holds: Ask<B>): Promise<readonly B[]> {
  let left = [...byBenefitPerCost(set)].reverse();
  for (let at = 0, needed = 0; needed < left.length; ) {
    if (at >= left.length) at = 0;
    const without = left.filter((_, index) => index !== at);
    if (await holds(without)) [left, needed] = [without, 0];
    else [at, needed] = [at + 1, needed + 1];
  }
  return left;
}

/** Sets cheaper than the best that no further block fits into: if they fail, so do the smaller ones. */
async function tryAllCheaper<B extends Block>(blocks: readonly B[], first: readonly B[], ask: Ask<B>): Promise<readonly B[]> {
  let best = first;
  for (;;) {
    // Sums of fractions depend on their order: in one order, no set is cheaper than itself.
    const limit = costOf(inOrder(blocks, best));
    const sets = listSubsets(blocks).filter(set => costOf(set) < limit);
    const full = sets.filter(set => blocks.every(block => set.includes(block) || costOf([...set, block]) >= limit));
    let found: readonly B[] | undefined;
    for (const set of full) {
      if (!(await ask(set))) continue;
      found = set;
      break;
    }
    if (found === undefined) return best;
    const next = await removeNeedless(found, ask);
    // Items that blocks share come in another order without one of the blocks.
    if (costOf(inOrder(blocks, next)) >= limit) return best;
    best = next;
  }
}

function listSubsets<B extends Block>(blocks: readonly B[]): readonly (readonly B[])[] {
  return Array.from({ length: 2 ** blocks.length }, (_, bits) => blocks.filter((_block, index) => ((bits >> index) & 1) === 1));
}

/**
 * Tries cheaper blocks in the place of each member, the most expensive first: as many promising ones as fit, then single ones.
 * A trial that holds starts over from its set. The result may have members that it does not need.
 */
async function exchange<B extends Block>(blocks: readonly B[], first: readonly B[], ask: Ask<B>): Promise<readonly B[]> {
  let best = first;
  const promising = byBenefitPerCost(blocks);
  for (let left = MOST_EXCHANGES; ; ) {
    let found: readonly B[] | undefined;
    for (const { others, next } of listExchanges(promising, best)) {
      if (left === 0) return best;
      left--;
      if (!(await ask([...others, ...next]))) continue;
      found = await shorten(others, next, ask);
      break;
    }
    if (found === undefined) return best;
    // Several blocks in the place of one: few of them are needed, and the others would be in the way of what follows.
    best = found.length > best.length ? await removeNeedless(found, ask) : found;
  }
}

interface Exchange<B extends Block> {
  readonly others: readonly B[];
  readonly next: readonly B[];
}

function listExchanges<B extends Block>(promising: readonly B[], set: readonly B[]): readonly Exchange<B>[] {
  const limit = costOf(set);
  const members = [...set].sort((a, b) => costOf([b]) - costOf([a]));
  return members.flatMap((member): Exchange<B>[] => {
    const others = set.filter(block => block !== member);
    const fitting = promising.filter(block => !set.includes(block) && costOf([...others, block]) < limit);
    const many: B[] = [];
    for (const block of fitting) if (costOf([...others, ...many, block]) < limit) many.push(block);
    const singles = fitting.slice(0, EXCHANGES_PER_BLOCK).map(block => [block]);
    return (many.length > 1 ? [many, ...singles] : singles).map(next => ({ others, next }));
  });
}

/** The shortest prefix of `next` that holds with `others`, by bisection; all of it holds. */
async function shorten<B extends Block>(others: readonly B[], next: readonly B[], ask: Ask<B>): Promise<readonly B[]> {
  let [fails, held] = [-1, next.length];
  while (held - fails > 1) {
    const middle = Math.floor((fails + held) / 2);
    if (await ask([...others, ...next.slice(0, middle)])) held = middle;
    else fails = middle;
  }
  return [...others, ...next.slice(0, held)];
}
