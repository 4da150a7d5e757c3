/** What the page holds of the detections of all sides. */
import type { SavedAnswer, SavedAnswers } from '../../src/report/saved/saved-answers.js';
import type { BuildSummary } from '../../src/stage/build-summary.js';
import type { InputPaths } from '../../src/stage/define-stage.js';
import { findRead } from './connected.js';
import type { ReportParams } from './params.js';
import { readDetections } from './readers/read-detections.js';
import { judgeSides } from './views/judge-sides.js';
import { saveResults } from './views/save-results.js';

/** Plain data, which a thread can receive. */
export interface SidesJob {
  readonly inputs: InputPaths;
  readonly params: ReportParams;
  readonly reads: BuildSummary['reads'];
  /** The number of images that `evaluate` took, by the name of a side. */
  readonly evaluated: ReadonlyMap<string, number>;
}

/** @throws StageError `report-input`, `report-overlays`; errors of data sets, detections and images. */
export async function saveSides({ inputs, params, reads, evaluated }: SidesJob): Promise<SavedAnswers> {
  const read = findRead(reads);
  const answers: Record<string, SavedAnswer> = {};
  const sides = await readDetections(inputs, params.order, evaluated);
  if (sides !== undefined) {
    const judged = judgeSides(sides, params, read);
    answers.judgments = { kind: 'json', value: judged };
    await saveResults(sides, { params, read, changed: judged.changes.rows.map(({ image }) => image.id) }, answers);
  }
  return answers;
}
