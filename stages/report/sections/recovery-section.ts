/** Report section on recovered accuracy: what `correct-biases` and `round-weights` changed, and the error before and after. */
import { drawBadge, type Section } from '../../../src/report/document.js';
import { type Html, html } from '../../../src/report/html.js';
import { formatCount, formatDb } from '../../../src/report/numbers.js';
import { drawTable, number, text } from '../../../src/report/table.js';
import type { Named } from '../entries.js';
import type { RecoveryView } from '../readers/read-recovery.js';

/** Results of layers that keep what they were. */
const KEPT: Readonly<Record<string, string>> = {
  'below-half-a-step': 'unchanged: the correction is below half a step of the bias',
  'same-integers': 'unchanged: nothing rounds differently',
  'error-not-lower': 'unchanged: the error did not fall',
};

export function drawRecovery(reports: readonly Named<RecoveryView>[]): Section | undefined {
  if (reports.length === 0) return undefined;
  return {
    id: 'recovery',
    title: 'Recovered accuracy',
    body: html`<p>The changes of the stages after quantization. The SQNR is that of a layer’s output after its activation function, with the changes of all layers before it.</p>
${reports.map(drawReport)}`,
  };
}

function drawReport({ name, value }: Named<RecoveryView>): Html {
  const changed = value.layers.filter(({ result }) => KEPT[result] === undefined);
  const what = value.format === 'tanren-bias-corrections/1' ? 'biases' : 'weights';
  const all = value.layers.length + value.skipped.length;
  return html`<h3>${name}</h3>
<p>New ${what} in ${formatCount(changed.length)} of ${formatCount(all)} layers, by ${formatCount(value.samples)} samples.</p>
${drawTable({
  caption: `${name}: outputs.`,
  columns: [text('Output'), number('SQNR before (dB)'), number('SQNR after (dB)'), text('')],
  rows: value.outputs.map(({ name: output, sqnrDb: { before, after } }) => [
    html`<code>${output}</code>`,
    drawDb(before),
    drawDb(after),
    rank(after) < rank(before) ? drawBadge('bad', 'worse') : '',
  ]),
})}<details class="plain"><summary>Every layer</summary>
${drawLayers(name, value)}</details>
`;
}

function drawLayers(name: string, { format, layers, skipped }: RecoveryView): Html {
  const isBias = format === 'tanren-bias-corrections/1';
  return drawTable({
    caption: `${name}: layers.`,
    columns: [
      text('Layer'),
      number('SQNR before (dB)'),
      number('SQNR tried (dB)'),
      number(isBias ? 'Saturated elements' : 'Changed integers'),
      text('Result'),
    ],
    rows: [
      ...layers.map(layer => [
        html`<code>${layer.node}</code>`,
        drawDb(layer.sqnrDb.before),
        drawDb(layer.sqnrDb.after),
        formatCount('changed' in layer ? layer.changed : layer.saturated),
        KEPT[layer.result] ?? 'changed',
      ]),
      ...skipped.map(({ node, reason }) => [html`<code>${node}</code>`, '–', '–', '–', `left out: ${reason}`]),
    ],
  });
}

function drawDb(sqnrDb: number | null): string {
  return sqnrDb === null ? 'no error' : formatDb(sqnrDb);
}

function rank(sqnrDb: number | null): number {
  return sqnrDb ?? Number.POSITIVE_INFINITY;
}
