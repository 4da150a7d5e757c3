/** The report of `widen-types`: what the set reaches and costs, and what each of its tensors is needed for. */
import { costOf } from '../../src/quant/widening/search-set.js';
import type { WideBlock, WideCost, WideType } from '../../src/quant/widening/wide-blocks.js';
import type { Figures } from './judge.js';
import type { Trials } from './trials.js';

export interface Widening {
  readonly blocks: readonly WideBlock[];
  readonly total: number;
  readonly set: readonly WideBlock[];
  readonly to: WideType;
  readonly cost: WideCost;
  /** Whether each member is tried without the others. */
  readonly members: 'tried' | 'listed';
}

export async function reportWidening({ blocks, total, set, to, cost, members: listing }: Widening, trials: Trials) {
  const elements = (some: readonly WideBlock[]): number => some.reduce((sum, one) => sum + one.elements, 0);
  const members = [];
  for (const block of set) {
    members.push({
      tensors: [...block.tensors],
      cost: costOf([block]),
      share: block.benefit,
      ownSqnrDb: Number.isFinite(block.ownSqnrDb) ? block.ownSqnrDb : ('equal' as const),
      /** The figures if this one alone is narrow again. */
      ...(listing === 'listed' ? {} : { without: { ...(await trials.measure(set.filter(other => other !== block))) } }),
    });
  }
  const wide = to === 'int16' ? 2 : 4;
  const widened = elements(set);
  const all = elements(blocks);
  const narrow: Figures = await trials.measure([]);
  return {
    format: 'tanren-widening/1' as const,
    to,
    cost,
    narrow: { ...narrow },
    found: {
      figures: { ...(await trials.measure(set)) },
      tensors: set.length,
      cost: costOf(set),
      shares: {
        cost: shareOf(costOf(set), total),
        tensors: shareOf(set.length, blocks.length),
        /** Bytes of wider activations among those of all. */
        bytes: shareOf(wide * widened, all + (wide - 1) * widened),
      },
    },
    members,
    trials: trials.count(),
  };
}

/** 0 of nothing. */
function shareOf(part: number, all: number): number {
  return part === 0 ? 0 : part / all;
}
