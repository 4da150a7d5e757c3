/** Report section on accuracy: COCO figures per column, and their differences to the first column. */
import { type Figure, isFigure } from '../../../src/base/figure.js';
import type { Json, JsonObject } from '../../../src/base/json.js';
import { isJsonObject } from '../../../src/base/json.js';
import { COCO_FIGURE_NAMES } from '../../../src/detection/coco/evaluate.js';
import { AXIS, drawChart, LABEL } from '../../../src/report/chart.js';
import { seriesColor, standIn, variable } from '../../../src/report/colors.js';
import type { Section } from '../../../src/report/document.js';
import { cleanText, type Html, type HtmlValue, html } from '../../../src/report/html.js';
import { formatCount, formatDelta, formatFigure, formatFixed, formatNumber } from '../../../src/report/numbers.js';
import { drawTable, number, text } from '../../../src/report/table.js';
import type { Named } from '../entries.js';

export type Metrics = Named<JsonObject>;

/** "bbox" → "boxes". */
const KINDS: Readonly<Record<string, string>> = { bbox: 'Boxes', segm: 'Masks' };

export async function drawAccuracy(metrics: readonly Metrics[]): Promise<Section | undefined> {
  if (metrics.length === 0) return undefined;
  const kinds = Object.keys(KINDS).filter(kind => metrics.some(({ value }) => isJsonObject(value[kind])));
  const tables: Html[] = [];
  for (const kind of kinds) tables.push(await drawKind(kind, metrics));
  const [first] = metrics;
  return {
    id: 'accuracy',
    title: 'Accuracy',
    body: html`<p>Measured on ${countImages(metrics)}. Differences are to ${first?.name}.</p>
${tables}${drawOthers(kinds, metrics)}`,
  };
}

/** The figure at `path` of each entry; undefined if it has none, or if there are no objects (−1). */
export function findFigure(value: JsonObject, kind: string, name: string): number | undefined {
  const figures = value[kind];
  const figure = isJsonObject(figures) ? figures[name] : undefined;
  return typeof figure === 'number' && figure >= 0 ? figure : undefined;
}

function countImages(metrics: readonly Metrics[]): string {
  const counts = [...new Set(metrics.flatMap(({ value }) => (typeof value.images === 'number' ? [value.images] : [])))];
  const [count] = counts;
  return count === undefined || counts.length > 1 ? 'the images of each column' : `${formatCount(count)} images`;
}

async function drawKind(kind: string, metrics: readonly Metrics[]): Promise<Html> {
  const title = KINDS[kind] ?? kind;
  const chart = await drawBars(kind, metrics);
  return html`<h3>${title}</h3>
<figure class="figure"><figcaption>${drawLegend(metrics.map(({ name }) => name))}</figcaption>${chart}</figure>
${drawTable({
  caption: `${title}: the 12 COCO figures. AP is the mean over IoU 0.50 to 0.95; AR is the recall at that number of detections per image.`,
  columns: [
    text('Figure'),
    ...metrics.flatMap(({ name }, index) =>
      index === 0 ? [number(name)] : [number(name), number('difference', 'Against the first side')],
    ),
  ],
  rows: COCO_FIGURE_NAMES.map(figure => [figure, ...metrics.flatMap((_, index) => drawFigure(metrics, index, kind, figure))]),
})}`;
}

function drawFigure(metrics: readonly Metrics[], index: number, kind: string, figure: string): readonly HtmlValue[] {
  const value = find(metrics, index, kind, figure);
  const shown = value === undefined ? '–' : formatFixed(value, 4);
  if (index === 0) return [shown];
  const base = find(metrics, 0, kind, figure);
  return [shown, html`<span class="soft">${value === undefined || base === undefined ? '' : formatDelta(value - base, 4)}</span>`];
}

function find(metrics: readonly Metrics[], index: number, kind: string, figure: string): number | undefined {
  const entry = metrics[index];
  return entry === undefined ? undefined : findFigure(entry.value, kind, figure);
}

const SHOWN = ['AP', 'AP50', 'AP75', 'APsmall', 'APmedium', 'APlarge'];

function drawBars(kind: string, metrics: readonly Metrics[]): Promise<Html> {
  const shares = metrics.map(
    ({ name }) =>
      `${name} ${SHOWN.map(figure => `${figure} ${formatNumber(findIn(metrics, name, kind, figure) ?? Number.NaN)}`).join(', ')}`,
  );
  return drawChart({
    id: `accuracy-${kind}`,
    description: `Bars of ${SHOWN.join(', ')}. ${shares.join('. ')}.`,
    wide: { width: 1040, height: 220 },
    narrow: { width: 320, height: 300 },
    tip(series, datum) {
      const [entry, figure] = [metrics[series], SHOWN[datum]];
      const value = entry === undefined || figure === undefined ? undefined : findFigure(entry.value, kind, figure);
      return value === undefined ? undefined : `${entry?.name}, ${figure}: ${formatFixed(value, 4)}`;
    },
    option: (_, form) => {
      const figures = { type: 'category', data: SHOWN, ...AXIS, axisTick: { show: false }, splitLine: { show: false } } as const;
      const values = { type: 'value', min: 0, max: 1, interval: 0.25, ...AXIS, axisLine: { show: false } } as const;
      return {
        grid: form === 'wide' ? { left: 36, right: 8, top: 14, bottom: 26 } : { left: 74, right: 14, top: 4, bottom: 24 },
        ...(form === 'wide' ? { xAxis: figures, yAxis: values } : { xAxis: values, yAxis: { ...figures, inverse: true } }),
        series: metrics.map(({ name }, index) => ({
          type: 'bar',
          silent: true,
          name: cleanText(name),
          barGap: '12%',
          barCategoryGap: '34%',
          itemStyle: { color: standIn(seriesColor(index)), borderRadius: 2 },
          label: {
            show: form === 'wide' && metrics.length <= 4,
            position: 'top',
            distance: 3,
            ...LABEL,
            fontSize: 11,
            formatter: ({ value }: { value: unknown }) => (typeof value === 'number' ? value.toFixed(3).replace(/^0/, '') : ''),
          },
          data: SHOWN.map(figure => findFigure(metrics[index]?.value ?? {}, kind, figure) ?? null),
        })),
      };
    },
  });
}

function findIn(metrics: readonly Metrics[], name: string, kind: string, figure: string): number | undefined {
  return findFigure(metrics.find(entry => entry.name === name)?.value ?? {}, kind, figure);
}

function drawLegend(names: readonly string[]): Html {
  return html`<ul class="legend">${names.map(
    (name, index) =>
      html`<li><svg aria-hidden="true" viewBox="0 0 22 12"><rect width="22" height="12" rx="2" fill="${variable(seriesColor(index))}"/></svg>${name}</li>`,
  )}</ul>`;
}

/** Metrics of other tasks, such as the top-1 of a classifier: every number of every entry. */
function drawOthers(kinds: readonly string[], metrics: readonly Metrics[]): HtmlValue {
  if (kinds.length > 0) return undefined;
  const flat = metrics.map(({ value }) => new Map(flatten(value, '')));
  const names = [...new Set(flat.flatMap(figures => [...figures.keys()]))];
  return drawTable({
    caption: 'All metrics.',
    columns: [text('Figure'), ...metrics.map(({ name }) => number(name))],
    rows: names.map(name => [name, ...flat.map(figures => drawOther(figures.get(name)))]),
  });
}

function drawOther(figure: Figure | undefined): string {
  return figure === undefined ? '–' : formatFigure(figure);
}

function flatten(value: Json, path: string): readonly (readonly [string, Figure])[] {
  if (isFigure(value)) return [[path, value]];
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => flatten(member, path === '' ? name : `${path}.${name}`));
}
