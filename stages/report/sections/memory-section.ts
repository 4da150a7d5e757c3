/** Report section on memory: the arena of activations of each NPU part over its units, and the units that do not fit into on-chip memory. */
import { formatBytes } from '../../../src/base/text/format.js';
import { AXIS, drawChart, LABEL } from '../../../src/report/chart.js';
import { standIn } from '../../../src/report/colors.js';
import type { Section } from '../../../src/report/document.js';
import { cleanText, type Html, type HtmlValue, html } from '../../../src/report/html.js';
import { formatCount } from '../../../src/report/numbers.js';
import { drawTable, number, text } from '../../../src/report/table.js';
import { sumLive } from '../../../src/target/memory/arena.js';
import type { MemoryReport, StripReport } from '../../../src/target/report/memory-report.js';
import type { Named } from '../entries.js';
import type { CompiledModel, CompileView } from '../readers/read-compile.js';
import { drawEach } from './draw-each.js';
import { titleModels } from './title-models.js';

export async function drawMemory(reports: readonly Named<CompileView>[]): Promise<Section | undefined> {
  const planned = titleModels(reports).flatMap(({ title, model }) => listParts(title, model));
  const lead = html`<p>The activations of each NPU part in one arena, planned from their sizes and lifetimes. Nothing here is measured; the vendor’s compiler makes its own plan.</p>
${drawTable({
  caption:
    'Arena: the size of the planned arena. Bound: no arena can be smaller, because so much is live at one unit. Sum: without reuse of memory.',
  columns: [
    text('Part'),
    number('Arena'),
    number('Bound', 'Memory that is live at the worst moment: no plan needs less'),
    number('Gap', 'How far the plan is above the bound'),
    number('Sum'),
    text('Most is live at'),
    text('Beyond on-chip memory'),
  ],
  rows: planned.map(part => [
    part.title,
    formatBytes(part.memory.peakBytes),
    formatBytes(part.memory.boundBytes),
    formatBytes(part.memory.gapBytes),
    formatBytes(part.memory.sumBytes),
    html`<code>${nameOf(part, part.memory.peakUnit)}</code>`,
    describeOnChip(part.memory),
  ]),
})}`;
  return drawEach({ id: 'memory', title: 'Memory', lead }, planned, drawPart);
}

interface PlannedPart {
  readonly title: string;
  readonly memory: MemoryReport;
  readonly model: CompiledModel;
}

function listParts(title: string, model: CompiledModel): readonly PlannedPart[] {
  const planned = model.parts.flatMap(({ name, memory }) => (memory === undefined ? [] : [{ name, memory }]));
  return planned.map(({ name, memory }) => ({ title: planned.length > 1 ? `${title} ${name}` : title, memory, model }));
}

function nameOf({ model }: PlannedPart, unit: number): string {
  return model.units[unit]?.name ?? String(unit);
}

function describeOnChip({ onChip }: MemoryReport): string {
  if (onChip === undefined) return 'size not known';
  const beyond = onChip.units.filter(({ fit }) => fit !== 'fits').length;
  return beyond === 0 ? 'none' : `${beyond} of ${onChip.units.length} units (${formatBytes(onChip.bytes)})`;
}

/** The table says enough of parts with fewer units. */
const FEWEST_DRAWN = 8;

async function drawPart(part: PlannedPart, index: number): Promise<Html> {
  const { title, memory } = part;
  const step = memory.units.indexOf(memory.peakUnit);
  const live = memory.tensors.filter(({ first, last }) => first <= step && step <= last).sort((a, b) => b.bytes - a.bytes);
  return html`<h3>${title}</h3>
${
  memory.units.length < FEWEST_DRAWN
    ? undefined
    : html`<figure class="figure"><figcaption>Live activations at each unit, in the order of execution. The dashed line is the arena.</figcaption>${await drawLive(part, index)}</figure>`
}
<details class="plain"><summary>The ${live.length} tensors that make the peak, and ${memory.tensors.length} in all</summary>${drawTable({
    caption: `Live at ${cleanText(nameOf(part, memory.peakUnit))}.`,
    columns: [text('Tensor'), number('Bytes'), number('Offset')],
    rows: live.map(({ name, bytes, offset }) => [html`<code>${name}</code>`, formatCount(bytes), formatCount(offset)]),
  })}</details>${drawStrips(part)}`;
}

function drawLive(part: PlannedPart, index: number): Promise<Html> {
  const { memory, title } = part;
  const [unit, size] = memory.peakBytes < 1e6 ? (['kB', 1e3] as const) : (['MB', 1e6] as const);
  const live = sumLive(memory.tensors).map(bytes => bytes / size);
  const peak = memory.peakBytes / size;
  return drawChart({
    id: `memory-${index}`,
    description: `Live activations of ${title} over ${live.length} units: at most ${formatBytes(memory.boundBytes)}, at ${nameOf(part, memory.peakUnit)}; the arena has ${formatBytes(memory.peakBytes)}.`,
    wide: { width: 1040, height: 240 },
    narrow: { width: 320, height: 220 },
    option: () => ({
      grid: { left: 52, right: 14, top: 24, bottom: 22 },
      xAxis: {
        type: 'value',
        min: 0,
        max: Math.max(1, live.length),
        ...AXIS,
        splitLine: { show: false },
        axisLabel: { show: false },
        axisTick: { show: false },
      },
      yAxis: { type: 'value', min: 0, max: peak * 1.1, name: unit, ...AXIS, axisLabel: { ...AXIS.axisLabel, showMaxLabel: false } },
      series: [
        {
          type: 'line',
          step: 'end',
          symbol: 'none',
          data: [...live.map((value, at) => [at, value]), [live.length, live.at(-1) ?? 0]],
          lineStyle: { color: standIn('blue'), width: 1.5 },
          areaStyle: { color: standIn('blue'), opacity: 0.25 },
          markLine: {
            silent: true,
            symbol: 'none',
            precision: 9,
            data: [{ yAxis: peak }],
            lineStyle: { color: standIn('orange'), type: 'dashed' },
            label: { ...LABEL, position: 'insideEndTop', formatter: formatBytes(memory.peakBytes) },
          },
        },
      ],
    }),
  });
}

/** Rows that are shown; the report file has all. */
const MOST_STRIPS = 12;

function drawStrips(part: PlannedPart): HtmlValue {
  const { onChip, units } = part.memory;
  if (onChip === undefined) return undefined;
  const beyond = onChip.units.flatMap((strip, step) => (strip.fit === 'fits' ? [] : [{ strip, unit: units[step] ?? 0 }]));
  if (beyond.length === 0) return undefined;
  const worst = beyond.toSorted((a, b) => overheadOf(b.strip) - overheadOf(a.strip) || a.unit - b.unit).slice(0, MOST_STRIPS);
  return html`<details class="plain"><summary>${beyond.length} units of ${part.title} are larger than on-chip memory (${formatBytes(onChip.bytes)})</summary>${drawTable(
    {
      caption:
        'Strips of output rows that fit, and the traffic to and from main memory that they cost. Those with the most additional traffic first.',
      columns: [text('Unit'), text('Operator'), number('Bytes'), text('Strips'), number('Traffic'), number('More than once each')],
      rows: worst.map(({ strip, unit }) => [
        html`<code>${nameOf(part, unit)}</code>`,
        part.model.units[unit]?.opType ?? '',
        formatBytes(strip.bytes),
        describeStrips(strip),
        strip.strips === undefined ? '–' : formatBytes(strip.strips.trafficBytes),
        strip.strips === undefined ? '–' : formatBytes(overheadOf(strip)),
      ]),
    },
  )}</details>`;
}

function overheadOf({ bytes, strips }: StripReport): number {
  return strips === undefined ? Number.POSITIVE_INFINITY : strips.trafficBytes - bytes;
}

function describeStrips({ fit, strips }: StripReport): string {
  if (strips !== undefined) {
    return `${strips.count} of ${strips.rows} ${strips.rows === 1 ? 'row' : 'rows'}${strips.weights === 'streamed' ? ', weights read for each' : ''}`;
  }
  return fit === 'too-large' ? 'a single row does not fit' : 'not cut by rows';
}
