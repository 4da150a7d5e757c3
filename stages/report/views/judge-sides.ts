/** Every side against the ground truth, for the view "Results": kinds of error, pixels, and the objects that changed from the first side to the last. */
import { listChanges } from '../../../src/detection/coco/change-list.js';
import { splitErrors } from '../../../src/detection/coco/errors.js';
import type { JudgedSide, JudgedSides } from '../../../src/detection/coco/judged-sides.js';
import type { CocoResult } from '../../../src/detection/coco/results.js';
import { measureSemantic } from '../../../src/detection/coco/semantic.js';
import type { ReadArtifact } from '../connected.js';
import type { Named } from '../entries.js';
import type { ReportParams } from '../params.js';
import type { DetectionSides } from '../readers/read-detections.js';

/** @throws DetectionError `coco-no-region`. */
export function judgeSides(sides: DetectionSides, { overlays: { minScore, changes } }: ReportParams, read: ReadArtifact): JudgedSides {
  const { dataset, first, last, iouType } = sides;
  return {
    iouType,
    sides: sides.sides.map(side => judgeSide(side, sides, minScore, read)),
    changes: listChanges(dataset, first.value, last.value, { iouType, minScore, most: changes }),
  };
}

function judgeSide(
  { name, value }: Named<readonly CocoResult[]>,
  { dataset, iouType }: DetectionSides,
  minScore: number,
  read: ReadArtifact,
): JudgedSide {
  const [{ stage } = { stage: name }] = read('detections', name);
  const errors = splitErrors(dataset, value, iouType);
  if (iouType !== 'segm') return { stage, errors };
  const { pixelAccuracy, meanAccuracy, meanIou } = measureSemantic(dataset, value, minScore);
  return { stage, errors, pixels: { pixelAccuracy, meanAccuracy, meanIou } };
}
