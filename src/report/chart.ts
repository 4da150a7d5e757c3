/** How is a chart drawn without a browser? By ECharts, as SVG, once for wide and once for narrow screens, in the colours of the page. */
import type { EChartsCoreOption } from 'echarts/core';
import { replaceStandIns, standIn } from './colors.js';
import { type Html, html, trusted } from './html.js';

export interface ChartSize {
  readonly width: number;
  readonly height: number;
}

export interface Chart {
  /** Unique on the page: letters, digits and "-". */
  readonly id: string;
  /** What a person who does not see it is told: what it shows, and what of that matters. */
  readonly description: string;
  readonly wide: ChartSize;
  readonly narrow: ChartSize;
  /** Colours are stand-ins. */
  readonly option: (size: ChartSize, form: ChartForm) => EChartsCoreOption;
}

export type ChartForm = 'wide' | 'narrow';

/** Both drawings; the style shows the one that fits. */
export async function drawChart(chart: Chart): Promise<Html> {
  const forms = ['wide', 'narrow'] as const;
  const drawings: Html[] = [];
  for (const form of forms) drawings.push(await drawForm(chart, form));
  return html`<div class="chart" role="img" aria-label="${chart.description}">${drawings}</div>`;
}

async function drawForm(chart: Chart, form: ChartForm): Promise<Html> {
  const size = chart[form];
  const drawing = await renderSvg(chart.option(size, form), size);
  return html`<div class="chart-${form}" aria-hidden="true">${tidy(drawing, `${chart.id}-${form}`)}</div>`;
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

/** ECharts' own bundle: its modules, even the few that the page needs, take eight times as long to load. */
async function load() {
  const { init } = await import('echarts/dist/echarts.esm.min.mjs');
  return init;
}

/**
 * The drawing as the page takes it: names of clips that are its own on the page and the same in every run (ECharts numbers them through), no style of its
 * own, none of what only a live chart needs, and variables for the stand-ins.
 */
function tidy(svg: string, id: string): Html {
  // Attributes alone are touched: texts have no quotation marks that are not escaped.
  const body = svg
    .replace(/<style[\s\S]*?<\/style>/g, '')
    .replace(/ (?:ecmeta_[a-z_]+|class|pointer-events|xmlns(?::xlink)?|version|baseProfile)="[^"]*"/g, '')
    .replace(/ id="zr\d+-/g, ` id="${id}-`)
    .replace(/="url\(#zr\d+-/g, `="url(#${id}-`)
    .replace(/ style="[^"]*"/g, style => style.replace(/font-family:[^;"]*;?/, ''))
    .replace(/>\s+</g, '><');
  return trusted(replaceStandIns(body));
}

/** Of an axis: quiet lines, small text. */
export const AXIS = {
  axisLine: { lineStyle: { color: standIn('line') } },
  axisTick: { lineStyle: { color: standIn('line') } },
  splitLine: { lineStyle: { color: standIn('line') } },
  axisLabel: { color: standIn('soft'), fontSize: 12 },
  nameTextStyle: { color: standIn('soft'), fontSize: 12 },
} as const;

/** Of a text beside a mark. */
export const LABEL = { color: standIn('ink'), fontSize: 12, textBorderColor: standIn('panel'), textBorderWidth: 3 } as const;
