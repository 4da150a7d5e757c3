/** Report section on what each layer costs: the most expensive ones as bars, and the setting that takes each one's error away. */

import { costOf, type LayerSensitivity, type SensitivityReport } from '../../../src/quant/sensitivity/report-schema.js';
import { AXIS, drawChart, LABEL } from '../../../src/report/chart.js';
import { standIn, variable } from '../../../src/report/colors.js';
import type { Section } from '../../../src/report/document.js';
import { cleanText, type Html, html } from '../../../src/report/html.js';
import { formatCount, formatDb, formatShare } from '../../../src/report/numbers.js';
import { drawTable, number, text } from '../../../src/report/table.js';
import type { Named } from '../entries.js';
import { drawEach } from './draw-each.js';

/** Bars. */
const SHOWN = 16;

/** Rows of the table. */
const LISTED = 60;

export async function drawSensitivity(reports: readonly Named<SensitivityReport>[]): Promise<Section | undefined> {
  const lead = html`<p>The part of the errors of the outputs that goes away when one layer alone is in float. Measured for the first layers; for the others a first-order share.</p>`;
  return drawEach({ id: 'sensitivity', title: 'Cost per layer', lead }, reports, drawReport);
}

async function drawReport({ name, value }: Named<SensitivityReport>, index: number): Promise<Html> {
  const { layers, outputs, samples } = value;
  const listed = layers.slice(0, LISTED);
  return html`<h3>${name}</h3>
<p>${formatCount(layers.length)} layers on ${formatCount(samples)} samples. Outputs: ${outputs.map(output => `${cleanText(output.name)} ${formatDb(output.sqnrDb)} dB`).join(', ')}.</p>
${layers.length === 0 ? undefined : html`<figure class="figure"><figcaption>${LEGEND}The ${formatCount(Math.min(SHOWN, layers.length))} most expensive layers.</figcaption>${await drawBars(name, layers.slice(0, SHOWN), index)}</figure>`}
<details class="plain"><summary>What fixes each</summary>${drawTable({
    caption: listed.length < layers.length ? `The first ${listed.length} of ${layers.length} layers.` : 'All layers.',
    columns: [
      text('Layer'),
      text('Operators'),
      number('Cost', 'Part of the error of the outputs that goes away when this layer alone is in float'),
      number('Share'),
      number('Own SQNR (dB)'),
      text('Setting of quantize'),
    ],
    rows: listed.map(layer => [
      html`<code>${cleanText(nameOf(layer))}</code>`,
      layer.nodes.length === 0 ? 'input' : [...new Set(layer.nodes.map(({ opType }) => opType))].join(', '),
      layer.alone === undefined ? '–' : formatShare(layer.alone.cost),
      formatShare(layer.share),
      formatDb(layer.ownSqnrDb),
      html`<code>${cleanText(fixOf(layer))}</code>`,
    ]),
  })}</details>`;
}

function nameOf({ values }: LayerSensitivity): string {
  const [first = '', ...others] = values;
  return others.length === 0 ? first : `${first} + ${others.length}`;
}

/** As an entry of the param `overrides`: the values of the layer in 16 bits. Values that a Concat joins may also keep a scale each. */
function fixOf({ values, nodes }: LayerSensitivity): string {
  const wider = values.map(value => `{tensor: ${JSON.stringify(value)}, set: {dtype: int16}}`).join(', ');
  return `${nodes.some(({ opType }) => opType === 'Concat') ? 'joins: separate, or ' : ''}overrides: [${wider}]`;
}

const LEGEND = html`<ul class="legend"><li><svg aria-hidden="true" viewBox="0 0 22 12"><rect x="2" y="2" width="18" height="8" fill="${variable('orange')}"/></svg>measured</li><li><svg aria-hidden="true" viewBox="0 0 22 12"><rect x="2" y="2" width="18" height="8" fill="none" stroke="${variable('blue')}" stroke-width="1.6"/></svg>first-order share</li></ul>`;

function drawBars(name: string, layers: readonly LayerSensitivity[], index: number): Promise<Html> {
  const rows = [...layers].reverse();
  const height = 40 + 22 * rows.length;
  const [first] = layers;
  return drawChart({
    id: `sensitivity-${index}`,
    description: `Cost of the ${layers.length} most expensive layers of ${cleanText(name)}. First: ${cleanText(first === undefined ? '' : nameOf(first))}, ${first === undefined ? '' : formatShare(costOf(first))}.`,
    wide: { width: 1040, height },
    narrow: { width: 320, height },
    tip(_, datum) {
      const layer = rows[datum];
      return layer === undefined ? undefined : `${nameOf(layer)}: ${formatShare(costOf(layer))}`;
    },
    option: (_, form) => ({
      grid: { left: form === 'wide' ? 260 : 120, right: 64, top: 8, bottom: 28 },
      xAxis: {
        type: 'value',
        ...AXIS,
        axisLabel: { ...AXIS.axisLabel, formatter: (part: number) => `${Math.round(100 * part)} %` },
        splitNumber: form === 'wide' ? 6 : 3,
      },
      yAxis: {
        type: 'category',
        data: rows.map(nameOf),
        ...AXIS,
        axisLabel: {
          ...AXIS.axisLabel,
          width: form === 'wide' ? 250 : 112,
          overflow: 'truncate',
          formatter: (label: string) => cleanText(label),
        },
      },
      series: [
        {
          type: 'bar',
          silent: true,
          barWidth: 14,
          data: rows.map(layer => ({
            value: costOf(layer),
            itemStyle:
              layer.alone === undefined
                ? { color: 'transparent', borderColor: standIn('blue'), borderWidth: 1.6 }
                : { color: standIn('orange') },
            label: { show: true, position: costOf(layer) < 0 ? 'left' : 'right', ...LABEL, formatter: () => formatShare(costOf(layer)) },
          })),
        },
      ],
    }),
  });
}
