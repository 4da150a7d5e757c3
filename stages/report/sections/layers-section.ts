/** Report section on estimated layers: a roofline of each model on the NPU, and a table of its layers with work, bound, time and share. */
import { formatBytes } from '../../../src/base/text/format.js';
import { AXIS, drawChart, LABEL } from '../../../src/report/chart.js';
import { standIn } from '../../../src/report/colors.js';
import { drawBadge, type Section } from '../../../src/report/document.js';
import { cleanText, type Html, html } from '../../../src/report/html.js';
import { formatCount, formatNumber, formatShare } from '../../../src/report/numbers.js';
import { drawTable, number, text } from '../../../src/report/table.js';
import { type LayerRow, listLayers } from '../../../src/target/estimate/layer-rows.js';
import type { Named } from '../entries.js';
import type { CompiledModel, CompileView } from '../readers/read-compile.js';
import { drawEach } from './draw-each.js';
import { formatMs } from './latency-section.js';
import { titleModels } from './title-models.js';

type Roof = NonNullable<CompiledModel['estimate']['roof']>;

interface Layered {
  readonly title: string;
  readonly rows: readonly LayerRow[];
  readonly fixedMs: number;
  readonly roof: Roof;
}

/** Nothing for reports of earlier versions, and for models that the CPU runs as a whole. */
export async function drawLayers(reports: readonly Named<CompileView>[]): Promise<Section | undefined> {
  const models = titleModels(reports).flatMap(({ title, model }) => findLayers(title, model));
  const lead = html`<p>${drawBadge('warn', 'estimate')} One call of each model, layer by layer. Not measured: no device took part, and nobody has published times of single layers.</p>`;
  return drawEach({ id: 'layers', title: 'Layers', lead }, models, drawModel);
}

/** The recipe runs a head on tiles instead of a replaced one. */
function findLayers(title: string, model: CompiledModel): readonly Layered[] {
  const { roof } = model.estimate;
  const layers = listLayers(model);
  return layers === undefined || roof === undefined || model.replacedBy !== undefined ? [] : [{ title, roof, ...layers }];
}

async function drawModel(model: Layered, index: number): Promise<Html> {
  const { title, rows, fixedMs } = model;
  const points = rows.filter(({ device, macs, bytes, ms }) => device === 'npu' && macs > 0 && bytes > 0 && ms > 0);
  const sorted = [...rows].sort((a, b) => b.ms - a.ms);
  const totalMs = fixedMs + rows.reduce((sum, { ms }) => sum + ms, 0);
  return html`<h3>${title}</h3>
${points.length === 0 ? undefined : html`<figure class="figure"><figcaption>Multiply-accumulates per second of each layer over those per byte that it moves. The line is the bound of the NPU; a layer far below it is short, or its channels do not fill the array.</figcaption>${await drawRoofline(model, points, index)}</figure>`}
<details class="plain"><summary>${rows.length} layers, ${formatMs(totalMs)} ms per call, of which ${formatMs(fixedMs)} ms are fixed</summary>${drawTable(
    {
      caption: 'The longest layers first; share of the call.',
      columns: [
        text('Layer'),
        text('Operator'),
        text('Runs on'),
        number('MACs'),
        number('Bytes'),
        text('Bound by'),
        number('Estimate (ms)'),
        number('Share'),
      ],
      rows: sorted.map(row => [
        html`<code>${cleanText(row.name)}</code>`,
        row.opType,
        row.device === 'npu' ? 'NPU' : 'CPU',
        formatCount(row.macs),
        formatBytes(row.bytes),
        row.bound === undefined ? '–' : row.bound === 'layer' ? 'time per layer' : row.bound,
        formatMs(row.ms),
        formatShare(row.share),
      ]),
    },
  )}</details>`;
}

function drawRoofline({ title, roof }: Layered, points: readonly LayerRow[], index: number): Promise<Html> {
  const data = points.map(row => ({ row, x: row.macs / row.bytes, y: row.macs / row.ms / 1e6 }));
  const roofAt = (x: number): number => Math.min(roof.macsPerSecond, x * roof.bytesPerSecond) / 1e9;
  const ridge = roof.macsPerSecond / roof.bytesPerSecond;
  const lowest = 10 ** Math.floor(Math.log10(Math.min(...data.map(({ x }) => x), ridge / 10)));
  const highest = 10 ** Math.ceil(Math.log10(Math.max(...data.map(({ x }) => x), ridge * 2)));
  const bottom = 10 ** Math.floor(Math.log10(Math.min(...data.map(({ y }) => y))));
  const top = 10 ** Math.ceil(Math.log10(roof.macsPerSecond / 1e9));
  const [slowest] = [...points].sort((a, b) => b.ms - a.ms);
  const bounds = ['compute', 'memory', 'layer'] as const;
  const corner = Math.max(lowest, (bottom * 1e9) / roof.bytesPerSecond);
  return drawChart({
    id: `roofline-${index}`,
    description: `Roofline of ${title}, estimated: ${points.length} layers below ${formatNumber(roof.macsPerSecond / 1e9)} GMAC/s and ${formatNumber(roof.bytesPerSecond / 1e9)} GB/s. The longest is ${cleanText(slowest?.name ?? '')}, bound by ${slowest?.bound ?? 'nothing'}.`,
    wide: { width: 1040, height: 320 },
    narrow: { width: 320, height: 260 },
    // The roof is the first series.
    tip(series, datum) {
      const point = data.filter(({ row }) => row.bound === bounds[series - 1])[datum];
      return point === undefined ? undefined : `${point.row.name}: ${formatNumber(point.row.ms)} ms, bound by ${point.row.bound}`;
    },
    option: (_, form) => ({
      grid: { left: 58, right: 20, top: 28, bottom: 40 },
      xAxis: { type: 'log', min: lowest, max: highest, name: 'MACs per byte', nameLocation: 'middle', nameGap: 24, ...AXIS },
      yAxis: { type: 'log', min: bottom, max: top, name: 'GMAC/s', ...AXIS },
      series: [
        {
          type: 'line',
          symbol: 'none',
          silent: true,
          lineStyle: { color: standIn('ink'), width: 1.6 },
          data: [corner, ridge, highest].map(x => [x, roofAt(x)]),
        },
        ...bounds.map((bound, at) => ({
          type: 'scatter',
          silent: true,
          symbolSize: form === 'wide' ? 8 : 6,
          symbol: ['circle', 'diamond', 'triangle'][at],
          itemStyle: { color: standIn((['blue', 'orange', 'violet'] as const)[at] ?? 'blue'), opacity: 0.8 },
          data: data.filter(({ row }) => row.bound === bound).map(({ x, y }) => [x, y]),
        })),
        {
          type: 'scatter',
          silent: true,
          symbolSize: 0.01,
          data: (['compute: circles', 'memory: diamonds', 'time per layer: triangles'] as const).map((label, at) => ({
            value: [highest, bottom * 10 ** (Math.log10(top / bottom) * (0.06 + 0.07 * (2 - at)))],
            label: {
              show: true,
              position: 'left',
              ...LABEL,
              color: standIn((['blue', 'orange', 'violet'] as const)[at] ?? 'blue'),
              formatter: () => label,
            },
          })),
        },
      ],
    }),
  });
}
