/** The report of `search-ranges`. */
import type { RangeSearchReport, SearchedBlock } from '../../src/quant/range-search/searched-block.js';
import { listOutputs, type OutputSqnr } from '../../src/quant/recovery/output-errors.js';
import type { GuardReport } from '../../src/quant/recovery/output-guard.js';

interface Search {
  readonly samples: number;
  readonly blocks: readonly SearchedBlock[];
  /** How many of them keep their ranges, the first ones. */
  readonly kept: number;
  readonly guard: GuardReport | undefined;
  readonly skipped: readonly string[];
  readonly sqnr: { readonly before: OutputSqnr; readonly after: OutputSqnr };
}

export function reportSearch({ samples, blocks, kept, guard, skipped, sqnr }: Search): RangeSearchReport {
  return {
    format: 'tanren-range-search/1',
    samples,
    changed: blocks.slice(0, kept).reduce((sum, { overrides }) => sum + overrides.length, 0),
    trials: blocks.reduce((sum, { trials }) => sum + trials, 0),
    ...(guard === undefined ? {} : { guard }),
    outputs: listOutputs(sqnr.before, sqnr.after),
    blocks,
    skipped,
  };
}
