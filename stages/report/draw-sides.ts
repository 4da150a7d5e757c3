/** What the page says of the detections of all sides and of the models: sections, and answers for the views. */
import type { Section } from '../../src/report/document.js';
import type { SavedAnswer, SavedAnswers } from '../../src/report/saved/saved-answers.js';
import type { BuildSummary } from '../../src/stage/build-summary.js';
import type { InputPaths } from '../../src/stage/define-stage.js';
import { findRead, listEntries } from './connected.js';
import type { ReportParams } from './params.js';
import { type DetectionSides, readDetections } from './readers/read-detections.js';
import { drawChanges } from './sections/changes-section.js';
import { drawErrorKinds } from './sections/error-kinds-section.js';
import { drawOverlays } from './sections/overlay-section.js';
import { saveModels } from './views/save-models.js';
import { saveResults } from './views/save-results.js';

/** Plain data, which a thread can receive. */
export interface SidesJob {
  readonly inputs: InputPaths;
  readonly params: ReportParams;
  readonly reads: BuildSummary['reads'];
  /** The number of images that `evaluate` took, by the name of a side. */
  readonly evaluated: ReadonlyMap<string, number>;
}

export interface DrawnSides {
  readonly sections: readonly Section[];
  readonly answers: SavedAnswers;
}

/** @throws StageError `report-input`, `report-overlays`; errors of data sets, detections, images and models. */
export async function drawSides({ inputs, params, reads, evaluated }: SidesJob): Promise<DrawnSides> {
  const read = findRead(reads);
  const answers: Record<string, SavedAnswer> = {};
  const sides = await readDetections(inputs, params.order, evaluated);
  // Threads code the images meanwhile.
  const saved = sides === undefined ? undefined : saveResults(sides, params, read, answers);
  const [sections] = await Promise.all([sides === undefined ? [] : drawSections(sides, params.overlays), saved]);
  await saveModels(listEntries(inputs, 'models'), read, answers);
  return { sections, answers };
}

/** Both sides on the same images, the single objects on which they differ, and the kinds of error of every side. */
async function drawSections(sides: DetectionSides, overlays: ReportParams['overlays']): Promise<readonly Section[]> {
  const drawn = [await drawOverlays(sides, overlays), await drawChanges(sides, overlays), drawErrorKinds(sides, overlays)];
  return drawn.filter(section => section !== undefined);
}
