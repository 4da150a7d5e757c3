/** Report section on sweeps: one figure of each configuration over another, with the Pareto front, and a table of all. */
import { rankOf } from '../../../src/base/figure.js';
import { formatBytes } from '../../../src/base/text/format.js';
import { AXIS, drawChart, LABEL } from '../../../src/report/chart.js';
import { standIn, variable } from '../../../src/report/colors.js';
import { drawBadge, type Section } from '../../../src/report/document.js';
import { cleanText, type Html, html } from '../../../src/report/html.js';
import { formatCount, formatFigure } from '../../../src/report/numbers.js';
import type { SweepDocument } from '../../../src/report/sweep-document.js';
import { drawTable, number, text } from '../../../src/report/table.js';
import type { Named } from '../entries.js';
import type { SweepRowView } from '../readers/read-sweep.js';
import { drawEach } from './draw-each.js';

/** The name of the size of the models among the metrics. */
const SIZE = 'size';

interface Point {
  readonly row: SweepRowView;
  readonly x: number;
  readonly y: number;
}

export async function drawSweeps(sweeps: readonly Named<SweepDocument>[]): Promise<Section | undefined> {
  const lead = html`<p>Configurations of the pipeline that were built and compared. The Pareto front has those that no other one beats in everything.</p>`;
  return drawEach({ id: 'sweeps', title: 'Sweeps', lead }, sweeps, drawSweep);
}

async function drawSweep({ name, value }: Named<SweepDocument>, index: number): Promise<Html> {
  const { axes, objectives, configurations } = value;
  const [first, ...others] = objectives;
  // Boxes and masks go together: what is paid for accuracy says more.
  const price = others.find(({ goal }) => goal !== first?.goal) ?? others[0];
  const points = first === undefined || price === undefined ? [] : pointsOf(configurations, price.metric, first.metric);
  const built = configurations.filter(({ status }) => status === 'built' || status === 'gate-missed').length;
  return html`<h3>${name}</h3>
${points.length < 2 ? undefined : html`<figure class="figure"><figcaption>${LEGEND}${first?.metric} over ${price?.metric}, of ${formatCount(points.length)} configurations.</figcaption>${await drawScatter({ name, index, points, x: price?.metric ?? '', y: first?.metric ?? '' })}</figure>`}
${drawTable({
  caption: `${formatCount(built)} of ${formatCount(configurations.length)} configurations were built; the best first.`,
  columns: [
    text(''),
    ...axes.map(axis => text(html`<code>${axis.name}</code>`)),
    ...objectives.map(({ metric }) => number(html`<code>${metric}</code>`)),
    text('Status'),
  ],
  rows: configurations.map(row => [
    row.onFront ? drawBadge('good', 'front') : '',
    ...axes.map(axis => cleanText(labelOf(row, axis.name))),
    ...objectives.map(({ metric }) => cellOf(row, metric)),
    row.status === 'built' ? 'built' : drawBadge('bad', statusOf(row)),
  ]),
})}`;
}

const LEGEND = html`<ul class="legend"><li><svg aria-hidden="true" viewBox="0 0 22 12"><path d="M11 1L16 6L11 11L6 6Z" fill="${variable('green')}"/></svg>on the front</li><li><svg aria-hidden="true" viewBox="0 0 22 12"><circle cx="11" cy="6" r="4" fill="none" stroke="${variable('blue')}" stroke-width="1.6"/></svg>others</li></ul>`;

function pointsOf(rows: readonly SweepRowView[], x: string, y: string): readonly Point[] {
  return rows.flatMap(row => {
    const [own, other] = [figureOf(row, x), figureOf(row, y)];
    return own === undefined || other === undefined ? [] : [{ row, x: own, y: other }];
  });
}

/** Undefined without the figure, and for "equal", which has no place on an axis. */
function figureOf(row: SweepRowView, metric: string): number | undefined {
  if (metric === SIZE) return row.sizeBytes;
  const figure = row.metrics[metric];
  return figure === undefined || !Number.isFinite(rankOf(figure)) ? undefined : rankOf(figure);
}

function cellOf(row: SweepRowView, metric: string): string {
  if (metric === SIZE) return row.sizeBytes === undefined ? '–' : formatBytes(row.sizeBytes);
  const figure = row.metrics[metric];
  return figure === undefined ? '–' : formatFigure(figure);
}

function statusOf({ status, gatesMissed, problems }: SweepRowView): string {
  if (gatesMissed.length > 0) return cleanText(`gate missed: ${gatesMissed.join(', ')}`);
  const [problem] = problems;
  return cleanText(problem === undefined ? status : `${status}: ${problem.message.split('\n')[0]}`);
}

function labelOf({ params }: SweepRowView, axis: string): string {
  const value = params[axis];
  return typeof value === 'string' ? value : value === undefined || value === null ? '–' : JSON.stringify(value);
}

interface Scatter {
  readonly name: string;
  readonly index: number;
  readonly points: readonly Point[];
  readonly x: string;
  readonly y: string;
}

/** Points of the front that are named. */
const NAMED = 6;

function drawScatter({ name, index, points, x, y }: Scatter): Promise<Html> {
  const front = points.filter(({ row }) => row.onFront);
  const rest = points.filter(({ row }) => !row.onFront);
  const labels = new Map(
    front.slice(0, NAMED).map(({ row }) => [
      row.number,
      Object.keys(row.params)
        .map(axis => labelOf(row, axis))
        .join(' '),
    ]),
  );
  const [best] = points;
  return drawChart({
    id: `sweep-${index}`,
    description: `${y} over ${x} of ${points.length} configurations of ${cleanText(name)}; ${front.length} are on the Pareto front. The first has ${best?.y} at ${best?.x}.`,
    wide: { width: 1040, height: 320 },
    narrow: { width: 320, height: 260 },
    tip(series, datum) {
      const point = [rest, front][series]?.[datum];
      return point === undefined ? undefined : `${point.row.number}: ${y} ${cellOf(point.row, y)}, ${x} ${cellOf(point.row, x)}`;
    },
    option: (_, form) => ({
      grid: { left: 64, right: 24, top: 28, bottom: 44 },
      xAxis: { type: 'value', scale: true, name: x, nameLocation: 'middle', nameGap: 26, boundaryGap: ['6%', '6%'], ...AXIS },
      yAxis: {
        type: 'value',
        scale: true,
        name: y,
        boundaryGap: ['8%', '12%'],
        ...AXIS,
        nameTextStyle: { ...AXIS.nameTextStyle, align: 'left' },
      },
      series: [
        {
          type: 'scatter',
          silent: true,
          symbol: 'circle',
          symbolSize: form === 'wide' ? 8 : 6,
          itemStyle: { color: 'transparent', borderColor: standIn('blue'), borderWidth: 1.6 },
          data: rest.map(point => [point.x, point.y]),
        },
        {
          type: 'scatter',
          silent: true,
          symbol: 'diamond',
          symbolSize: form === 'wide' ? 12 : 9,
          itemStyle: { color: standIn('green') },
          data: front.map(point => ({
            value: [point.x, point.y],
            label: {
              show: form === 'wide' && labels.has(point.row.number),
              position: 'top',
              ...LABEL,
              formatter: () => cleanText(labels.get(point.row.number) ?? ''),
            },
          })),
        },
      ],
    }),
  });
}
