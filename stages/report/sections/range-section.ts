/** Report section on ranges: chosen range and histogram of the tensors with the largest loss. */

import type { ModelSketches } from '../../../src/quant/calibration/model-sketches.js';
import type { ActivationEntry, QuantizationReport } from '../../../src/quant/report/report-entries.js';
import type { Sketch } from '../../../src/quant/sketch/sketch.js';
import { makeBars } from '../../../src/report/bars.js';
import { AXIS, drawChart, LABEL } from '../../../src/report/chart.js';
import { standIn } from '../../../src/report/colors.js';
import type { Section } from '../../../src/report/document.js';
import { type Html, type HtmlValue, html } from '../../../src/report/html.js';
import { formatCount, formatDb, formatNumber, formatShare } from '../../../src/report/numbers.js';
import { drawTable, number, text } from '../../../src/report/table.js';
import type { Named } from '../entries.js';
import type { PartError } from './error-section.js';

interface Tensor {
  readonly part: string;
  readonly activation: ActivationEntry;
  readonly propagated: number | null | undefined;
  readonly sketch: Sketch | undefined;
}

export interface RangeData {
  readonly quantization: readonly Named<QuantizationReport>[];
  readonly sketches: readonly Named<ModelSketches>[];
  readonly errors: readonly PartError[];
  /** How many have their histogram drawn. */
  readonly most: number;
}

export async function drawRanges(data: RangeData): Promise<Section | undefined> {
  const tensors = findTensors(data);
  if (tensors.length === 0) return undefined;
  const worst = tensors
    .filter(({ sketch }) => sketch !== undefined && sketch.histograms.length > 0)
    .sort(byLoss)
    .slice(0, data.most);
  const drawn: Html[] = [];
  for (const [index, tensor] of worst.entries()) drawn.push(await drawTensor(tensor, index));
  return {
    id: 'ranges',
    title: 'Ranges',
    body: html`<p>${drawn.length === 0 ? '' : `The ${drawn.length} of ${tensors.length} activations with the largest loss when quantized alone, worst first. `}Bars are the calibration histogram, on a logarithmic scale; values outside the range saturate.</p>
${drawn.length === 0 ? undefined : html`<div class="tensors"><div class="head" aria-hidden="true"><span></span><span>Tensor</span><span class="n">Own SQNR (dB)</span><span class="n minor">Saturated</span><span class="n minor">Scale</span></div>${drawn}</div>`}
${data.quantization.map(entry => drawPart(entry))}`,
  };
}

function findTensors({ quantization, sketches, errors }: RangeData): readonly Tensor[] {
  return quantization.flatMap(({ name: part, value }) => {
    const own =
      sketches.find(({ name }) => name === part) ?? (quantization.length === 1 && sketches.length === 1 ? sketches[0] : undefined);
    const byName = new Map([...(own?.value.values.values() ?? [])].map(({ name, sketch }) => [name, sketch]));
    const propagated = new Map(errors.find(error => error.part === part)?.values.map(error => [error.name, error.propagated]));
    return value.activations.map(activation => ({
      part,
      activation,
      propagated: propagated.get(activation.name),
      sketch: byName.get(activation.name),
    }));
  });
}

/** Least SQNR first; unknown ones after those that lose nothing. */
function byLoss(a: Tensor, b: Tensor): number {
  const rank = ({ activation: { sqnrDb } }: Tensor): number => (sqnrDb === undefined ? 2e9 : (sqnrDb ?? 1e9));
  return rank(a) - rank(b);
}

async function drawTensor(tensor: Tensor, index: number): Promise<Html> {
  const { part, activation, sketch, propagated } = tensor;
  const { name, range, scale, zeroPoint, dtype, method, sqnrDb, saturationShare, sharedWith } = activation;
  const facts: readonly (readonly [string, HtmlValue])[] = [
    ['Data range', formatPair([sketch?.min ?? 0, sketch?.max ?? 0])],
    ['Range', formatPair(range)],
    ['Method', method],
    ['Type', dtype],
    ['Scale', formatNumber(scale)],
    ['Zero point', formatNumber(zeroPoint)],
    ['Values', formatCount(sketch?.count ?? 0)],
    ...(propagated === undefined ? [] : [['Propagated SQNR', `${formatDb(propagated)} dB`] as const]),
    ...(sharedWith === undefined ? [] : [['Shares the range of', html`<code>${sharedWith}</code>`] as const]),
  ];
  // One at a time: the first is open, and opening another closes it.
  return html`<details name="tensor"${index === 0 ? html` open` : undefined}><summary><span><span class="mute">${part}</span> <code>${name}</code></span><span class="n"><span class="sr">own SQNR in dB </span>${sqnrDb === undefined ? '–' : formatDb(sqnrDb)}</span><span class="n minor"><span class="sr">saturated </span>${saturationShare === undefined ? '–' : formatShare(saturationShare)}</span><span class="n minor"><span class="sr">scale </span>${formatNumber(scale)}</span></summary>
<div class="figure">${sketch === undefined ? undefined : await drawHistogram(activation, sketch, index)}</div>
<dl class="facts">${facts.map(([term, fact]) => html`<div><dt>${term}</dt><dd>${fact}</dd></div>`)}</dl></details>
`;
}

function formatPair(range: readonly number[]): string {
  const [low = 0, high = 0] = range;
  return `${formatNumber(low)} … ${formatNumber(high)}`;
}

function drawHistogram({ name, range, saturationShare }: ActivationEntry, { histograms }: Sketch, index: number): Promise<Html> {
  const { width, first, counts } = makeBars(histograms);
  const [least, most] = [first * width, (first + counts.length) * width];
  const [low = 0, high = 0] = range;
  const left = Math.min(low, least);
  const right = Math.max(high, most);
  const margin = (right - left) * 0.02;
  const [min, max] = [left - margin, right + margin];
  // A staircase: each bar's height at both of its edges.
  const stairs = [...counts].flatMap((count, bar) => [bar, bar + 1].map(edge => [(first + edge) * width, Math.log10(count + 1)]));
  const outside = [...(left < low ? [[{ xAxis: min }, { xAxis: low }]] : []), ...(right > high ? [[{ xAxis: high }, { xAxis: max }]] : [])];
  return drawChart({
    id: `range-${index}`,
    description: `Histogram of ${name}: values from ${formatNumber(least)} to ${formatNumber(most)}; the range is ${formatPair(range)}${saturationShare === undefined ? '' : `, and ${formatShare(saturationShare)} of the values saturate`}.`,
    wide: { width: 1000, height: 220 },
    narrow: { width: 300, height: 190 },
    option: () => ({
      grid: { left: 44, right: 12, top: 26, bottom: 24 },
      xAxis: {
        type: 'value',
        min,
        max,
        ...AXIS,
        splitLine: { show: false },
        axisLine: { onZero: false, ...AXIS.axisLine },
        axisLabel: { ...AXIS.axisLabel, showMinLabel: false, showMaxLabel: false, formatter: formatNumber, hideOverlap: true },
      },
      yAxis: {
        type: 'value',
        min: 0,
        minInterval: 1,
        ...AXIS,
        axisLine: { show: false, onZero: false },
        axisLabel: { ...AXIS.axisLabel, formatter: (power: number) => (power === 0 ? '0' : formatPower(power)) },
      },
      series: [
        {
          type: 'line',
          silent: true,
          symbol: 'none',
          lineStyle: { width: 1, color: standIn('blue') },
          areaStyle: { color: standIn('blue'), opacity: 0.35 },
          data: stairs,
          markArea: { silent: true, itemStyle: { color: standIn('red'), opacity: 0.12 }, data: outside },
          markLine: {
            silent: true,
            symbol: 'none',
            lineStyle: { color: standIn('red'), width: 1.4, type: 'solid' },
            label: { ...LABEL, formatter: ({ value }: { value: unknown }) => formatNumber(Number(value)) },
            data: [
              { xAxis: low, label: { align: low - min < 0.08 * (max - min) ? 'left' : 'center' } },
              { xAxis: high, label: { align: max - high < 0.08 * (max - min) ? 'right' : 'center' } },
            ],
          },
        },
      ],
    }),
  });
}

function formatPower(power: number): string {
  return Number.isInteger(power) ? `1e${power}` : '';
}

function drawPart({ name, value }: Named<QuantizationReport>): Html {
  const { activations, weights, inFloat } = value;
  const lossy = [...weights].sort((a, b) => (a.sqnrDb ?? 1e9) - (b.sqnrDb ?? 1e9));
  return html`<details class="plain"><summary>${name}: ${activations.length} activations, ${weights.length} weights, ${inFloat.length} nodes in float</summary>
${drawTable({
  caption: `Activations of ${name}.`,
  columns: [
    text('Tensor'),
    text('Method', 'How the range follows from the calibration data'),
    number('Data range'),
    number('Range', 'Values that the integers can represent; values outside saturate'),
    text('Type', 'Data type of the integers'),
    number('Scale', 'Step between two neighboring integers'),
    number('Zero point'),
    number('Saturated'),
    number('Own SQNR (dB)'),
  ],
  rows: activations.map(({ name: tensor, method, dataRange, range, dtype, scale, zeroPoint, saturationShare, sqnrDb }) => [
    html`<code>${tensor}</code>`,
    method,
    dataRange === undefined ? '–' : formatPair(dataRange),
    formatPair(range),
    dtype,
    formatNumber(scale),
    formatNumber(zeroPoint),
    saturationShare === undefined ? '–' : formatShare(saturationShare),
    sqnrDb === undefined ? '–' : formatDb(sqnrDb),
  ]),
})}${
  weights.length === 0
    ? undefined
    : drawTable({
        caption: `Weights of ${name}, largest loss first.`,
        columns: [text('Tensor'), text('Type', 'Data type of the integers'), number('SQNR (dB)')],
        rows: lossy.map(({ name: tensor, dtype, sqnrDb }) => [html`<code>${tensor}</code>`, dtype, formatDb(sqnrDb)]),
      })
}${
  inFloat.length === 0
    ? undefined
    : drawTable({
        caption: `Nodes of ${name} that stay in float.`,
        columns: [text('Node'), text('Operator'), text('Reason')],
        rows: inFloat.map(({ node, opType, reason }) => [html`<code>${node}</code>`, opType, reason]),
      })
}</details>
`;
}
