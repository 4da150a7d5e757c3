/** Report section on the comparisons of `verify`: value errors and detection differences per step. */
import { EQUAL, rankOf } from '../../../src/base/figure.js';
import type { Section } from '../../../src/report/document.js';
import { type HtmlValue, html } from '../../../src/report/html.js';
import { formatCount, formatDb, formatFixed, formatNumber } from '../../../src/report/numbers.js';
import { drawTable, number, text } from '../../../src/report/table.js';
import type { Named } from '../entries.js';
import type { VerifyView } from '../readers/read-verify.js';

export function drawComparisons(reports: readonly Named<VerifyView>[]): Section | undefined {
  if (reports.length === 0) return undefined;
  const withDetections = reports.filter(({ value }) => value.detections !== undefined);
  return {
    id: 'verification',
    title: 'Verification',
    body: html`<p>Each step compared with the one before it on the same images: the outputs of every part, and the detections matched by class and IoU.</p>
${drawTable({
  caption: 'Outputs: the worst value of each step.',
  columns: [text('Step'), text('Worst value'), number('SQNR (dB)'), number('Cosine'), number('Largest difference')],
  rows: reports.map(({ name, value }) => [name, ...drawWorst(value)]),
})}${withDetections.length === 0 ? undefined : drawDetections(withDetections)}
<details class="plain"><summary>Every output of every step</summary>
${reports.map(({ name, value }) =>
  drawTable({
    caption: `Step ${name}`,
    columns: [text('Value'), number('SQNR (dB)'), number('Cosine'), number('Largest difference')],
    rows: Object.entries(value.values).map(([output, { sqnrDb, cosine, maxAbs }]) => [
      html`<code>${output}</code>`,
      formatDb(sqnrDb),
      formatFixed(cosine, 6),
      formatNumber(maxAbs),
    ]),
  }),
)}</details>
`,
  };
}

function drawWorst({ values }: VerifyView): readonly HtmlValue[] {
  const worst = Object.entries(values).reduce<readonly [string, VerifyView['values'][string]] | undefined>(
    (least, entry) => (least === undefined || rankOf(entry[1].sqnrDb) < rankOf(least[1].sqnrDb) ? entry : least),
    undefined,
  );
  if (worst === undefined) return ['–', '–', '–', '–'];
  const [name, { sqnrDb, cosine, maxAbs }] = worst;
  return [sqnrDb === EQUAL ? 'all equal' : html`<code>${name}</code>`, formatDb(sqnrDb), formatFixed(cosine, 6), formatNumber(maxAbs)];
}

function drawDetections(reports: readonly Named<VerifyView>[]): HtmlValue {
  return drawTable({
    caption: 'Detections, matched by class and IoU.',
    columns: [
      text('Step'),
      number('Before'),
      number('After'),
      number('Matched', 'Pairs of a detection before and one after, of one class and with enough overlap'),
      number('Missed', 'Detections before that have no partner after'),
      number('Extra', 'Detections after that have no partner before'),
      number('Mean box IoU'),
      number('Mean mask IoU'),
      number('Largest score difference'),
    ],
    rows: reports.flatMap(({ name, value: { detections } }) =>
      detections === undefined
        ? []
        : [
            [
              name,
              ...[detections.reference, detections.candidate, detections.matched, detections.missed, detections.extra].map(formatCount),
              formatFixed(detections.meanBoxIou, 4),
              formatFixed(detections.meanMaskIou, 4),
              formatFixed(detections.maxScoreDifference, 4),
            ],
          ],
    ),
  });
}
