/** The report of `correct-biases`, and its lines in the log. */
import type { LayerCorrection } from '../../src/quant/recovery/layer-correction.js';
import type { LayerPairs } from '../../src/quant/recovery/layer-pairs.js';
import { describeOutputs, listOutputs, type OutputSqnr } from '../../src/quant/recovery/output-errors.js';
import { type CorrectionsReport, changeOf } from '../../src/quant/recovery/recovery-report.js';

export interface Corrections {
  readonly corrections: readonly LayerCorrection[];
  readonly skipped: LayerPairs<unknown>['skipped'];
  readonly samples: number;
  readonly outputs: { readonly before: OutputSqnr; readonly after: OutputSqnr };
}

export function reportCorrections({ corrections, skipped, samples, outputs }: Corrections): CorrectionsReport {
  return {
    format: 'tanren-bias-corrections/1',
    samples,
    corrected: countCorrected(corrections),
    outputs: listOutputs(outputs.before, outputs.after),
    layers: corrections.map(({ node, result, meanError, saturated, ...error }) => ({
      node,
      result,
      meanError,
      sqnrDb: changeOf(error),
      saturated,
    })),
    skipped,
  };
}

/** What the correction brought, one line per output; a warning for each output that became worse. */
export function summarizeCorrections({ corrections, skipped, outputs }: Corrections): readonly (readonly ['info' | 'warning', string])[] {
  const counts = `corrected the biases of ${countCorrected(corrections)} of ${corrections.length + skipped.length} layers`;
  return [['info', counts], ...describeOutputs(outputs.before, outputs.after, 'correction')];
}

function countCorrected(corrections: readonly LayerCorrection[]): number {
  return corrections.filter(({ result }) => result === 'corrected').length;
}
