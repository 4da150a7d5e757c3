/** Report section on the kinds of detection errors and their cost and, where all sides have masks, on pixel accuracy. */

import { type ErrorCost, splitErrors } from '../../../src/detection/coco/errors.js';
import { ERROR_KIND_WORDS, ERROR_KINDS } from '../../../src/detection/coco/image-errors.js';
import { measureSemantic } from '../../../src/detection/coco/semantic.js';
import type { Section } from '../../../src/report/document.js';
import { type HtmlValue, html } from '../../../src/report/html.js';
import { formatCount, formatFixed } from '../../../src/report/numbers.js';
import { drawTable, number, text } from '../../../src/report/table.js';
import type { ReportParams } from '../params.js';
import type { DetectionSides } from '../readers/read-detections.js';

/** @throws DetectionError `coco-no-region`. */
export function drawErrorKinds({ dataset, sides, iouType }: DetectionSides, { minScore }: ReportParams['overlays']): Section {
  const split = sides.map(({ name, value }) => ({ name, errors: splitErrors(dataset, value, iouType) }));
  const row = (title: string, costOf: (errors: (typeof split)[number]['errors']) => ErrorCost): readonly HtmlValue[] => [
    title,
    ...split.flatMap(({ errors }) => [formatCount(costOf(errors).count), formatFixed(costOf(errors).cost, 4)]),
  ];
  return {
    id: 'error-kinds',
    title: 'Kinds of error',
    body: html`<p>Where average precision at IoU 0.5 is lost (${split.map(({ name, errors }) => `${name}: ${formatFixed(errors.ap, 4)}`).join(', ')}), of ${iouType === 'segm' ? 'masks' : 'boxes'}: dAP is the gain if that kind of error alone were corrected, as in TIDE (Bolya et al. 2020).</p>
${drawTable({
  caption: 'False positives and missed objects by kind.',
  columns: [text('Error'), ...split.flatMap(({ name }) => [number(name), number('dAP')])],
  rows: [
    ...ERROR_KINDS.map(kind => row(ERROR_KIND_WORDS[kind], errors => errors.kinds[kind])),
    row('all false positives', errors => errors.falsePositives),
    row('all false negatives', errors => errors.falseNegatives),
  ],
})}${iouType === 'segm' ? drawPixels({ dataset, sides }, minScore) : undefined}`,
  };
}

function drawPixels({ dataset, sides }: Pick<DetectionSides, 'dataset' | 'sides'>, minScore: number): HtmlValue {
  const measured = sides.map(({ name, value }) => ({ name, figures: measureSemantic(dataset, value, minScore) }));
  const row = (title: string, figure: 'pixelAccuracy' | 'meanAccuracy' | 'meanIou'): readonly HtmlValue[] => [
    title,
    ...measured.map(({ figures }) => (figures[figure] < 0 ? '–' : formatFixed(figures[figure], 4))),
  ];
  return drawTable({
    caption: `Pixels: masks from a score of ${minScore}, painted in one label map, against that of the ground truth.`,
    columns: [text('Figure'), ...measured.map(({ name }) => number(name))],
    rows: [row('pixel accuracy', 'pixelAccuracy'), row('mPA', 'meanAccuracy'), row('mIoU', 'meanIou')],
  });
}
