/** Report section on quantization errors: own and propagated SQNR of every value, in the order of the graph. */
import { EQUAL } from '../../../src/base/figure.js';
import type { PartErrors } from '../../../src/quant/compare/propagated-error.js';
import type { QuantizationReport } from '../../../src/quant/report/report-entries.js';
import { AXIS, drawChart, LABEL } from '../../../src/report/chart.js';
import { standIn, variable } from '../../../src/report/colors.js';
import type { Section } from '../../../src/report/document.js';
import { cleanText, type Html, html } from '../../../src/report/html.js';
import { formatDb, formatFixed } from '../../../src/report/numbers.js';
import { drawTable, number, text } from '../../../src/report/table.js';
import type { Named } from '../entries.js';
import type { VerifyView } from '../readers/read-verify.js';
import { drawEach } from './draw-each.js';

/** One value of a model. Decibels; null: nothing is lost; absent where it is not known. */
export interface ValueError {
  readonly name: string;
  readonly opType: string;
  readonly own?: number | null;
  readonly propagated?: number | null;
}

export interface PartError {
  readonly part: string;
  /** In the order of the graph. */
  readonly values: readonly ValueError[];
}

/** Own errors are the quantization reports', propagated ones those of the last `verify` that has them; joined by part and name. */
export function joinErrors(quantization: readonly Named<QuantizationReport>[], verify: readonly Named<VerifyView>[]): readonly PartError[] {
  const propagated = verify.findLast(({ value }) => (value.propagated ?? []).length > 0)?.value.propagated ?? [];
  const parts = quantization.map(({ name, value }) => joinPart(name, value, findPart(propagated, name, quantization.length)));
  const others = propagated.filter(({ part }) => findQuantization(quantization, part, propagated.length) === undefined);
  return [...parts, ...others.map(errors => joinPart(errors.part, undefined, errors))].filter(({ values }) => values.length > 0);
}

/** A single model on each side is the same model, even under different names. */
function findPart(parts: readonly PartErrors[], name: string, others: number): PartErrors | undefined {
  return parts.find(({ part }) => part === name) ?? (parts.length === 1 && others === 1 ? parts[0] : undefined);
}

function findQuantization(
  entries: readonly Named<QuantizationReport>[],
  part: string,
  others: number,
): Named<QuantizationReport> | undefined {
  return entries.find(({ name }) => name === part) ?? (entries.length === 1 && others === 1 ? entries[0] : undefined);
}

function joinPart(part: string, quantized: QuantizationReport | undefined, errors: PartErrors | undefined): PartError {
  const own = new Map(
    (quantized?.activations ?? []).flatMap(({ name, sqnrDb }) => (sqnrDb === undefined ? [] : [[name, sqnrDb] as const])),
  );
  const values = (errors?.values ?? []).map(({ value, opType, sqnrDb }): ValueError => {
    const db = own.get(value);
    own.delete(value);
    return { name: value, opType, ...(db === undefined ? {} : { own: db }), propagated: sqnrDb === EQUAL ? null : sqnrDb };
  });
  return { part, values: [...values, ...[...own].map(([name, db]): ValueError => ({ name, opType: '', own: db }))] };
}

export async function drawErrors(parts: readonly PartError[]): Promise<Section | undefined> {
  const lead = html`<p>Own: the error from quantizing this value alone, computed from the calibration sketches. Propagated: the error against the float model, including all errors before it. In decibels of SQNR; 6 dB less is twice the error.</p>
`;
  return drawEach({ id: 'error', title: 'Error per layer', lead }, parts, drawPart);
}

async function drawPart({ part, values }: PartError, index: number): Promise<Html> {
  return html`<h3>${part}</h3>
<figure class="figure"><figcaption>${drawLegend(values)}The lowest are named. Left to right in the order of the graph.</figcaption>${await drawErrorChart(part, values, index)}</figure>
<details class="plain"><summary>All ${values.length} values of ${part}</summary>${drawTable({
    caption: `SQNR of every value of ${part}, in the order of the graph.`,
    columns: [text('Value'), text('Operator'), number('Own (dB)'), number('Propagated (dB)')],
    rows: values.map(({ name, opType, own, propagated }) => [
      html`<code>${name}</code>`,
      opType,
      own === undefined ? '–' : formatDb(own),
      propagated === undefined ? '–' : formatDb(propagated),
    ]),
  })}</details>
`;
}

function drawLegend(values: readonly ValueError[]): Html {
  const own = html`<li><svg aria-hidden="true" viewBox="0 0 22 12"><circle cx="11" cy="6" r="4" fill="none" stroke="${variable('blue')}" stroke-width="1.6"/></svg>own</li>`;
  const propagated = html`<li><svg aria-hidden="true" viewBox="0 0 22 12"><path d="M0 6H22" stroke="${variable('orange')}" stroke-width="1.6"/><path d="M11 1L16 6L11 11L6 6Z" fill="${variable('orange')}"/></svg>propagated</li>`;
  return html`<ul class="legend">${values.some(value => value.own !== undefined) ? own : undefined}${values.some(value => value.propagated !== undefined) ? propagated : undefined}</ul>`;
}

/** How many are named. */
const NAMED = 4;

function drawErrorChart(part: string, values: readonly ValueError[], index: number): Promise<Html> {
  const pointsOf = (kind: 'own' | 'propagated') =>
    values.flatMap((value, position) => {
      const db = value[kind];
      return typeof db === 'number' ? [{ position, db, name: value.name }] : [];
    });
  const [own, propagated] = [pointsOf('own'), pointsOf('propagated')];
  const main = propagated.length > 0 ? propagated : own;
  const lowest = [...main].sort((a, b) => a.db - b.db || a.position - b.position).slice(0, NAMED);
  const described = lowest.map(({ name, db }) => `${name} ${formatFixed(db, 1)} dB`).join(', ');
  const describedKind = propagated.length > 0 ? 'propagated' : 'own';
  return drawChart({
    id: `error-${index}`,
    description: `SQNR of the ${values.length} values of ${part} in the order of the graph. Lowest ${describedKind}: ${described}.`,
    wide: { width: 1040, height: 300 },
    narrow: { width: 320, height: 260 },
    tip(series, datum) {
      const point = [own, propagated][series]?.[datum];
      return point === undefined ? undefined : `${point.name}: ${series === 0 ? 'own' : 'propagated'} ${formatFixed(point.db, 1)} dB`;
    },
    option: (_, form) => ({
      grid: { left: 44, right: 14, top: 22, bottom: 22 },
      xAxis: {
        type: 'value',
        min: -0.5,
        max: values.length - 0.5,
        ...AXIS,
        splitLine: { show: false },
        axisLabel: { show: false },
        axisTick: { show: false },
        axisLine: { onZero: false, ...AXIS.axisLine },
      },
      yAxis: {
        type: 'value',
        scale: true,
        boundaryGap: ['14%', '4%'],
        name: 'dB',
        ...AXIS,
        axisLine: { show: false, onZero: false },
        splitNumber: form === 'wide' ? 5 : 4,
      },
      series: [
        {
          type: 'scatter',
          silent: true,
          symbol: 'circle',
          symbolSize: form === 'wide' ? 7 : 5,
          itemStyle: { color: 'transparent', borderColor: standIn('blue'), borderWidth: 1.6, opacity: 1 },
          data: own.map(({ position, db }) => [position, db]),
        },
        {
          type: 'line',
          silent: true,
          symbol: 'diamond',
          showAllSymbol: true,
          symbolSize: form === 'wide' ? 7 : 5,
          lineStyle: { color: standIn('orange'), width: 1.4 },
          itemStyle: { color: standIn('orange'), opacity: 1 },
          data: propagated.map(({ position, db }) => [position, db]),
        },
        {
          type: 'scatter',
          silent: true,
          symbolSize: 0.01,
          itemStyle: { opacity: 1 },
          data: placeLabels(lowest, values.length, form).map(({ name, position, db, side }) => ({
            value: [position, db],
            label: { show: true, position: 'bottom', distance: 7, align: side, ...LABEL, formatter: () => name },
          })),
        },
      ],
    }),
  });
}

interface Label {
  readonly name: string;
  readonly position: number;
  readonly db: number;
  /** Alignment of the label with the point. */
  readonly side: 'left' | 'center' | 'right';
}

/** Labels below their points and inside the chart. If two would overlap, the label of the higher value is omitted. Narrow screens have one label. */
function placeLabels(
  lowest: readonly { readonly name: string; readonly position: number; readonly db: number }[],
  count: number,
  form: 'wide' | 'narrow',
): readonly Label[] {
  const range = Math.max(...lowest.map(({ db }) => db)) - Math.min(...lowest.map(({ db }) => db));
  const placed: Label[] = [];
  for (const { name, position, db } of lowest.slice(0, form === 'wide' ? NAMED : 1)) {
    const [, short = name] = /([^/]*(?:\/[^/]*){0,2})$/.exec(cleanText(name)) ?? [];
    const label = short.length > 34 ? `…${short.slice(-33)}` : short;
    const near = placed.some(other => Math.abs(other.position - position) < count / 5 && Math.abs(other.db - db) < Math.max(range / 3, 1));
    if (!near)
      placed.push({ name: label, position, db, side: position < count / 6 ? 'left' : position > (5 * count) / 6 ? 'right' : 'center' });
  }
  return placed;
}
