/** Writes precision-recall curves. The file extension selects the format: numbers (.json) or a drawing (.svg). */
import { extname } from 'node:path';
import { CodedError } from '../../../base/coded-error.js';
import { KIND_PLURALS } from '../../../detection/coco/figure-names.js';
import type { CocoEvaluation } from '../../../detection/coco/measure.js';
import { listCurves, type PrecisionRecallCurves } from '../../../detection/coco/precision-recall.js';
import { drawPrecisionRecall } from '../../../report/precision-recall-picture.js';
import { writeFiles } from '../../process/write-files.js';

/** Checks the file extension before anything is measured. @throws CodedError `curves-format`. */
export function checkCurvesPath(path: string): void {
  if (encoderOf(path) !== undefined) return;
  throw new CodedError('curves-format', `curves are not written as "${extname(path)}"`, {
    help: 'name a file that ends in .json (all categories, with scores) or .svg (a drawing of the mean)',
  });
}

/** @throws CodedError `curves-format`, `not-a-file`. */
export async function writeCurves(path: string, evaluation: CocoEvaluation): Promise<void> {
  checkCurvesPath(path);
  const text = encoderOf(path)?.(listCurves(evaluation), evaluation) ?? '';
  await writeFiles([{ path, write: file => file.writeFile(text) }]);
}

type Encode = (curves: PrecisionRecallCurves, evaluation: CocoEvaluation) => string;

function encoderOf(path: string): Encode | undefined {
  switch (extname(path).toLowerCase()) {
    case '.json':
      return (curves, { iouType }) => `${JSON.stringify({ type: iouType, ...curves })}\n`;
    case '.svg':
      return ({ mean }, { iouType }) =>
        drawPrecisionRecall(
          `Precision over recall, ${KIND_PLURALS[iouType]}, mean over categories`,
          mean.map(({ iou, precision }) => ({ name: `IoU ${iou.toFixed(2)}`, precision })),
        );
    default:
      return undefined;
  }
}
