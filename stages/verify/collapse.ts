/** Finds candidates that have collapsed: outputs that are mostly noise or constant, or detections of which almost none is found. */
import { rankOf } from '../../src/base/figure.js';
import { detectionFiguresOf } from '../../src/detection/compare/compare-detections.js';
import type { SelectedErrors, SelectionFigures } from '../../src/quant/compare/selected-errors.js';
import { boundOf, formatFigure } from './judge.js';
import type { Thresholds } from './params.js';
import { describeSelection, heldFiguresOf } from './selected-figures.js';
import type { Summary } from './summary.js';

/** Below this SQNR in dB, the error has almost a third of the power of the signal. */
const LEAST_SQNR_DB = 5;
/** Fewer detections of the reference say little. */
const LEAST_DETECTIONS = 20;
const LEAST_MATCHED = 1 / 10;

/** One line per collapse that no stated threshold allows. Outputs behind a selection are judged with the selection of the reference. `minSqnrDb` of a value decides about its SQNR, about the selections before it too, `maxMissed` about matched detections; nothing allows a constant. */
export function findCollapses(
  { values, constants, detections }: Summary,
  thresholds: Thresholds,
  selections: readonly SelectedErrors[],
): readonly string[] {
  const found: string[] = [];
  // Elements that are selected in another order are no noise.
  for (const [name, figures] of new Map([...values, ...heldFiguresOf(selections)])) {
    const constant = constants.get(name);
    if (constant !== undefined) found.push(`${name}: all elements are ${formatFigure(constant)}, those of the reference differ`);
    else if (figures.elements > 0 && rankOf(figures.sqnrDb) < LEAST_SQNR_DB && boundOf(thresholds.minSqnrDb, name) === undefined)
      found.push(`${name}: SQNR ${formatFigure(rankOf(figures.sqnrDb))} dB, below ${LEAST_SQNR_DB} dB`);
  }
  const { reference, matched } = detections === undefined ? { reference: 0, matched: 0 } : detectionFiguresOf(detections);
  if (reference >= LEAST_DETECTIONS && matched < reference * LEAST_MATCHED && thresholds.maxMissed === undefined)
    found.push(`detections: ${matched} of ${reference} matched, fewer than a tenth`);
  for (const selection of selections.flatMap(part => part.selections)) {
    const isLost = selection.selected >= LEAST_DETECTIONS && selection.common < selection.selected * LEAST_MATCHED;
    if (isLost && !isAllowed(selection, values, thresholds.minSqnrDb)) found.push(`${describeSelection(selection)}, fewer than a tenth`);
  }
  return found;
}

/** Whether a bound is stated for every compared output behind the selection; where none is compared, for values in general. */
function isAllowed({ outputs }: SelectionFigures, values: Summary['values'], bound: Thresholds['minSqnrDb']): boolean {
  const compared = outputs.filter(name => values.has(name));
  return (compared.length === 0 ? ['default'] : compared).every(name => boundOf(bound, name) !== undefined);
}
