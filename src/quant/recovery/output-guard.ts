/** Judges the changes of a method by the network's outputs: of all changes in graph order, the beginning after which the outputs have the least error is kept. */
import { anyList, integer, mapOf, number, object } from '../../base/schema/build-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';
import { fixed } from '../../base/text/fixed.js';
import { type Comparison, sqnrDbOf } from '../../tensor/compare.js';

/** The first captured samples, at most so many, judge. */
export const GUARD_SAMPLES = 16;
/** Blocks of equal numbers of changes, whose ends are tried; then the middles beside the best end, so often. */
const BLOCKS = 8;
const REFINEMENTS = 2;
/** Both ends, the ends between blocks, and two middles per refinement. */
export const MOST_TRIALS = 2 + (BLOCKS - 1) + 2 * REFINEMENTS;
/** Fewer changes than all must lower the error by a tenth: smaller differences are those of the samples. */
const LEAST_GAIN = 0.1;

export const GUARD_PARAM = {
  enum: ['layers', 'outputs'],
  default: 'layers',
  description:
    "What judges the changes. layers: the error of each layer or block. outputs: then the network's outputs too; where they are better with fewer of the first changes, the others are taken back.",
} as const;

const ERRORS = mapOf(number({ minimum: 0, maximum: 1 }), { description: 'By output, or by kind of number in it (OUTPUT/kind).' });

const TRIAL = object({ changes: integer(0, 'Number of changes, the first ones.'), error: number({ minimum: 0, maximum: 1 }) });

export const GUARD_SCHEMA = object({
  samples: integer(1, 'Number of captured samples that judged, the first ones.'),
  changes: integer(0, 'Number of changes that each lower the error of their layer or block.'),
  kept: integer(0, 'How many of them are kept, the first ones.'),
  error: object(
    { none: ERRORS, all: ERRORS, kept: ERRORS },
    {},
    'Noise relative to signal, without changes, with all, and with those that are kept.',
  ),
  trials: anyList(TRIAL, 'All that was tried, by number of changes; the error is the mean over outputs.'),
});

export type GuardReport = FromSchema<typeof GUARD_SCHEMA>;

/** Noise relative to signal by output. What has more noise than signal, or is not finite on one side alone, counts 1. */
export type OutputShares = Readonly<Record<string, number>>;

export function sharesOf(sums: ReadonlyMap<string, Comparison>): OutputShares {
  return Object.fromEntries(
    [...sums].map(([name, sum]) => {
      const db = sqnrDbOf(sum);
      return [name, Number.isNaN(db) ? 1 : Math.min(1, 10 ** (-db / 10))];
    }),
  );
}

/**
 * Tries at most `MOST_TRIALS` beginnings, each once; all changes are kept unless fewer lower the mean error by a tenth. Of equal ones the longest is kept.
 * @param measure errors with the first `kept` changes.
 */
export async function guardByOutputs(
  { changes, samples }: Pick<GuardReport, 'changes' | 'samples'>,
  measure: (kept: number) => Promise<OutputShares>,
): Promise<GuardReport> {
  const tried = new Map<number, OutputShares>();
  const tryAll = async (counts: readonly number[]): Promise<void> => {
    for (const count of counts) if (!tried.has(count)) tried.set(count, await measure(count));
  };
  const errorOf = (count: number): number => meanOf(tried.get(count) ?? {});
  const ordered = (): readonly number[] => [...tried.keys()].sort((a, b) => a - b);
  const findBest = (): number => ordered().reduce((best, count) => (errorOf(count) <= errorOf(best) ? count : best), 0);
  await tryAll([0, changes]);
  await tryAll(Array.from({ length: BLOCKS }, (_, block) => Math.round((changes * block) / BLOCKS)));
  for (let round = 0; round < REFINEMENTS; round++) {
    const [counts, best] = [ordered(), findBest()];
    const at = counts.indexOf(best);
    const beside = [counts[at - 1], counts[at + 1]].filter(count => count !== undefined);
    await tryAll(beside.map(count => Math.round((best + count) / 2)));
  }
  const best = findBest();
  const kept = errorOf(best) < errorOf(changes) * (1 - LEAST_GAIN) ? best : changes;
  const sharesAt = (count: number): OutputShares => tried.get(count) ?? {};
  return {
    samples,
    changes,
    kept,
    error: { none: sharesAt(0), all: sharesAt(changes), kept: sharesAt(kept) },
    trials: ordered().map(count => ({ changes: count, error: errorOf(count) })),
  };
}

function meanOf(shares: OutputShares): number {
  const all = Object.values(shares);
  return all.length === 0 ? 0 : all.reduce((sum, share) => sum + share, 0) / all.length;
}

/** One line. @param what the changed things, in plural. */
export function describeGuard({ samples, changes, kept, error, trials }: GuardReport, what: string): readonly ['info', string] {
  const text = (shares: OutputShares): string => fixed(meanOf(shares), 4);
  const figures = `error of the outputs ${text(error.none)} without changes, ${text(error.all)} with all${kept === changes ? '' : `, ${text(error.kept)} with those`} (${trials.length} trials on ${samples} samples)`;
  return [
    'info',
    `the outputs keep ${kept === changes ? `all ${changes}` : `the first ${kept} of ${changes}`} changed ${what}: ${figures}`,
  ];
}
