/** Reads the rows that `tanren sweep -o sweep.json` wrote. */
import { SWEEP_DOCUMENT, type SweepDocument } from '../../../src/report/sweep-document.js';
import { parserOf } from '../entries.js';

export type SweepRowView = SweepDocument['configurations'][number];

/** @throws StageError `report-input`. */
export const parseSweep = parserOf(SWEEP_DOCUMENT, 'tanren sweep -o sweep.json');
