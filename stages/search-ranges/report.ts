/** The report of `search-ranges`. */
import type { RangeSearchReport, SearchedBlock } from '../../src/quant/range-search/searched-block.js';
import { listOutputs, type OutputSqnr } from '../../src/quant/recovery/output-errors.js';

interface Search {
  readonly samples: number;
  readonly blocks: readonly SearchedBlock[];
  readonly skipped: readonly string[];
  readonly sqnr: { readonly before: OutputSqnr; readonly after: OutputSqnr };
}

export function reportSearch({ samples, blocks, skipped, sqnr }: Search): RangeSearchReport {
  return {
    format: 'tanren-range-search/1',
    samples,
    changed: blocks.reduce((sum, { overrides }) => sum + overrides.length, 0),
    trials: blocks.reduce((sum, { trials }) => sum + trials, 0),
    outputs: listOutputs(sqnr.before, sqnr.after),
    blocks,
    skipped,
  };
}
