/** Charts as SVG, drawn by ECharts without a browser, for wide and for narrow screens. */
import type { EChartsCoreOption } from 'echarts/core';
import { replaceStandIns, standIn } from './colors.js';
import { escapeHtml, type Html, html, trusted } from './html.js';

export interface ChartSize {
  readonly width: number;
  readonly height: number;
}

export interface Chart {
  /** Unique on the page: letters, digits and "-". */
  readonly id: string;
  /** Text alternative: what the chart shows, and the main result. */
  readonly description: string;
  readonly wide: ChartSize;
  readonly narrow: ChartSize;
  /** Colors are placeholders, see `standIn`. */
  readonly option: (size: ChartSize, form: ChartForm) => EChartsCoreOption;
  /** What a pointer on a mark shows, by the indexes of its series and of its datum; undefined: nothing. */
  readonly tip?: (series: number, datum: number) => string | undefined;
}

export type ChartForm = 'wide' | 'narrow';

/** Draws both forms; the style sheet shows the one that fits. */
export async function drawChart(chart: Chart): Promise<Html> {
  const forms = ['wide', 'narrow'] as const;
  const drawings: Html[] = [];
  for (const form of forms) drawings.push(await drawForm(chart, form));
  return html`<div class="chart" role="img" aria-label="${chart.description}">${drawings}</div>`;
}

async function drawForm(chart: Chart, form: ChartForm): Promise<Html> {
  const size = chart[form];
  const drawing = await renderSvg(chart.option(size, form), size);
  return html`<div class="chart-${form}" aria-hidden="true">${tidy(addTips(drawing, chart.tip), `${chart.id}-${form}`)}</div>`;
}

async function renderSvg(option: EChartsCoreOption, { width, height }: ChartSize): Promise<string> {
  const init = await loadEcharts();
  const chart = init(null, null, { renderer: 'svg', ssr: true, width, height });
  try {
    chart.setOption({ animation: false, backgroundColor: 'transparent', ...option });
    return chart.renderToSVGString();
  } finally {
    chart.dispose();
  }
}

let loaded: Promise<Awaited<ReturnType<typeof load>>> | undefined;

function loadEcharts(): NonNullable<typeof loaded> {
  loaded ??= load();
  return loaded;
}

/** Loads the ECharts bundle: even the few modules that the page needs take eight times as long to load. */
async function load() {
  const { init } = await import('echarts/dist/echarts.esm.min.mjs');
  return init;
}

/** Marks have their indexes as attributes, until `tidy` removes them. */
const MARK = /<path\b[^>]*\becmeta_series_index="(\d+)" ecmeta_data_index="(\d+)"[^>]*>(?=<\/path>)/g;

function addTips(svg: string, tip: Chart['tip']): string {
  if (tip === undefined) return svg;
  return svg.replace(MARK, (mark, series: string, datum: string) => {
    const text = tip(Number(series), Number(datum));
    return text === undefined ? mark : `${mark}<title>${escapeHtml(text)}</title>`;
  });
}

/**
 * Adapts a drawing to the page: clip names that are unique on the page and equal in every run (ECharts uses a counter), no styles, no attributes of
 * interactive charts, and CSS variables instead of placeholder colors.
 */
function tidy(svg: string, id: string): Html {
  // Only attributes match: quotation marks in texts are escaped.
  const body = svg
    .replace(/<style[\s\S]*?<\/style>/g, '')
    .replace(/ (?:ecmeta_[a-z_]+|class|pointer-events|xmlns(?::xlink)?|version|baseProfile)="[^"]*"/g, '')
    .replace(/ id="zr\d+-/g, ` id="${id}-`)
    .replace(/="url\(#zr\d+-/g, `="url(#${id}-`)
    .replace(/ style="[^"]*"/g, style => style.replace(/font-family:[^;"]*;?/, ''))
    .replace(/>\s+</g, '><');
  return trusted(replaceStandIns(body));
}

/** Style of axes: light lines, small text. */
export const AXIS = {
  axisLine: { lineStyle: { color: standIn('line') } },
  axisTick: { lineStyle: { color: standIn('line') } },
  splitLine: { lineStyle: { color: standIn('line') } },
  axisLabel: { color: standIn('soft'), fontSize: 12 },
  nameTextStyle: { color: standIn('soft'), fontSize: 12 },
} as const;

/** Style of labels beside marks. */
export const LABEL = { color: standIn('ink'), fontSize: 12, textBorderColor: standIn('panel'), textBorderWidth: 3 } as const;
