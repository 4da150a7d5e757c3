/** Report section on latency: measurements of `bench`, and in separate tables the estimates of `compile`. */
import { isJsonObject, type Json } from '../../../src/base/json.js';
import { seriesColor, variable } from '../../../src/report/colors.js';
import { drawBadge, type Section } from '../../../src/report/document.js';
import { type Html, type HtmlValue, html } from '../../../src/report/html.js';
import { formatCount, formatFixed } from '../../../src/report/numbers.js';
import { drawTable, number, text } from '../../../src/report/table.js';
import { type BenchReport, describeStrategy, type PartReport, type StrategyReport } from '../../../src/runtime/measure/bench-report.js';
import type { LatencyEstimate } from '../../../src/target/report/compile-report.js';
import type { Named } from '../entries.js';
import type { CompiledModel, CompileView, ImageView } from '../readers/read-compile.js';

export function drawLatency(bench: readonly Named<BenchReport>[], compile: readonly Named<CompileView>[]): Section | undefined {
  if (bench.length === 0 && compile.length === 0) return undefined;
  return {
    id: 'latency',
    title: 'Latency',
    body: html`<p>Measured and estimated times are in separate tables.</p>
${bench.map(({ name, value }) => drawMeasured(bench.length > 1 ? name : undefined, value))}${compile.map(({ name, value }) => drawEstimated(compile.length > 1 ? name : undefined, value))}`,
  };
}

/** Of all parts of an image, each in its fastest way; undefined where a part lacks the form, and where single calls were timed on a board. */
export function addPerImage(bench: BenchReport, form: string): number | undefined {
  if (bench.where.runner === 'bundle') return undefined;
  let sum = 0;
  for (const part of bench.parts) {
    const timed = part.forms.find(one => one.form === form);
    const row = timed?.rows[timed.best];
    if (row === undefined) return undefined;
    sum += row.perImageMs;
  }
  return bench.parts.length === 0 ? undefined : sum;
}

/** The processor of this machine, or the device that an external runner or a bundle names. */
export function nameDevice({ where }: BenchReport): string {
  const { identity } = where;
  if (where.runner === 'bundle' && isJsonObject(identity) && isJsonObject(identity.device)) return String(identity.device.name);
  const named = [where.processor, where.label].find(name => typeof name === 'string' && name !== '');
  return named === undefined ? 'the device of the runner' : `${String(named)}${where.runner === 'cpu' ? ' (CPU)' : ''}`;
}

/** How each part of an image is fed fastest, with the calls at the median count of RoIs: "backbone as it is, box_head all in one batch (1 call)". */
export function describeFastest({ parts }: BenchReport, form: string): string {
  return parts
    .flatMap(({ part, counts, forms }) => {
      const timed = forms.find(one => one.form === form);
      const row = timed?.rows[timed.best];
      if (row === undefined) return [];
      const calls = row.counts[row.counts.length >> 1]?.calls;
      return [
        `${part} ${describeStrategy(row.strategy)}${counts.length === 0 || calls === undefined ? '' : ` (${formatCount(calls)} ${calls === 1 ? 'call' : 'calls'})`}`,
      ];
    })
    .join(', ');
}

function drawMeasured(name: string | undefined, bench: BenchReport): Html {
  const { where, warmup, repeats, parts } = bench;
  return html`<h3>${name ?? 'Runs'} ${drawBadge('good', 'measured')}</h3>
<p>${formatCount(repeats)} runs after ${formatCount(warmup)} to warm up, on ${describeWhere(where)}.</p>
${drawTable({
  caption: 'Whole models, or one batch at the median count of RoIs, in milliseconds.',
  columns: [
    text('Part'),
    text('Form'),
    number('p50'),
    number('p90'),
    number('p99'),
    number('Minimum'),
    number('Mean'),
    number('Std dev'),
    number('Speedup of int8'),
  ],
  rows: parts.flatMap(part => part.forms.map(({ form, rows }, index) => drawReference(part, form, rows[0], index))),
})}${drawSteps(bench)}${parts.filter(({ counts }) => counts.length > 0).map(drawHead)}${drawOperators(parts)}`;
}

/** The whole detector of a bundle. */
function drawSteps({ detector }: BenchReport): HtmlValue {
  if (detector === undefined) return undefined;
  return drawTable({
    caption: `The whole detector on ${formatCount(detector.images)} images, in milliseconds per image by step.`,
    columns: [text('Step'), number('p50'), number('p90'), number('p99')],
    rows: Object.entries(detector.steps).map(([step, { p50Ms, p90Ms, p99Ms }]) => [
      step,
      formatMs(p50Ms),
      formatMs(p90Ms),
      formatMs(p99Ms),
    ]),
  });
}

function drawReference(part: PartReport, form: string, row: StrategyReport | undefined, index: number): readonly HtmlValue[] {
  const count = row?.counts[row.counts.length >> 1];
  const latency = count?.device ?? count?.here;
  const figures = latency === undefined ? [] : [latency.p50Ms, latency.p90Ms, latency.p99Ms, latency.minMs, latency.meanMs, latency.stdMs];
  const speedup = index === 0 && part.speedup !== undefined ? `${formatFixed(part.speedup, 2)} ×` : '';
  return [part.part, form, ...figures.map(formatMs), speedup];
}

/** "how are heads fed fastest?" */
function drawHead({ part, counts, forms }: PartReport): Html {
  const slowest = Math.max(...forms.flatMap(({ rows }) => rows.map(({ perImageMs }) => perImageMs)));
  const images = counts.reduce((sum, count) => sum + count.images, 0);
  return drawTable({
    caption: `${part}: batchings of the RoIs of an image, at ${counts.map(({ rows }) => rows).join(', ')} RoIs, representative of ${formatCount(images)} images.`,
    columns: [
      text('Batching'),
      text('Form'),
      ...counts.map(({ rows }) => number(`p50 at ${rows} (ms)`)),
      number('Mean per image (ms)'),
      number('Padded RoIs'),
      text(''),
    ],
    rows: forms.flatMap(({ form, rows, best }, formIndex) =>
      rows.map((row, index) => [
        describeStrategy(row.strategy),
        form,
        ...counts.map((_, at) => formatMs((row.counts[at]?.device ?? row.counts[at]?.here)?.p50Ms)),
        html`${drawBar(row.perImageMs / slowest, formIndex)}${formatMs(row.perImageMs)}`,
        formatFixed(counts.reduce((sum, count, at) => sum + count.images * (row.counts[at]?.padded ?? 0), 0) / images, 1),
        index === best ? drawBadge('good', 'fastest') : '',
      ]),
    ),
  });
}

function drawBar(share: number, index: number): Html {
  return html`<span class="bar" style="width:${Math.round(60 * share)}px;background:${variable(seriesColor(index))}" aria-hidden="true"></span>`;
}

/** Operators shown of each model. */
const MOST_OPERATORS = 8;

function drawOperators(parts: readonly PartReport[]): HtmlValue {
  const profiles = parts.flatMap(({ part, forms }) =>
    forms.flatMap(({ form, profile }) => (profile === undefined ? [] : [{ part, form, profile }])),
  );
  if (profiles.length === 0) return undefined;
  return html`<details class="plain"><summary>Times per operator</summary>${profiles.map(({ part, form, profile: { operators } }) => {
    const total = operators.reduce((sum, { meanMs }) => sum + meanMs, 0);
    return drawTable({
      caption: `${part}, ${form}: the slowest of ${operators.length} operators; profiling slows them down.`,
      columns: [text('Operator'), number('Mean (ms)'), number('Share')],
      rows: operators
        .slice(0, MOST_OPERATORS)
        .map(({ opType, meanMs }) => [opType, formatMs(meanMs), total === 0 ? '–' : `${formatFixed((100 * meanMs) / total, 1)} %`]),
    });
  })}</details>`;
}

function describeWhere(where: BenchReport['where']): string {
  const flatten = (value: Json, path: string): readonly string[] => {
    if (value === null) return [];
    if (typeof value !== 'object') return [`${path} ${String(value)}`];
    return Object.entries(value).flatMap(([name, member]) => flatten(member, path === '' ? name : `${path}.${name}`));
  };
  return flatten(where, '').join(', ');
}

/** Three digits at least. */
export function formatMs(ms: number | undefined): string {
  if (ms === undefined) return '–';
  if (ms >= 100) return formatFixed(ms, 0);
  return formatFixed(ms, ms >= 10 ? 1 : ms >= 1 ? 2 : 3);
}

/** The cells of a model whose report has no estimate per image. */
const NO_ESTIMATE: readonly string[] = ['–', '–', '–', '–'];

function drawEstimated(name: string | undefined, { target, models }: CompileView): Html {
  return html`<h3>${name ?? 'Target'} ${drawBadge('warn', 'estimate')}</h3>
<p>Per image, on ${target.title} ${target.device}, ${target.dtype}: all calls, units on the CPU at a stated rate, and transfers. Not measured: no device took part.</p>
${drawTable({
  caption: 'Estimated milliseconds per image, with lower and upper bounds.',
  columns: [text('Model'), number('Calls'), number('Estimate'), number('Lower bound'), number('Upper bound')],
  rows: models.map(({ name: model, replacedBy, estimate: { image } }) => [
    replacedBy === undefined ? model : `${model}, if not on tiles`,
    ...(image === undefined ? NO_ESTIMATE : [describeCalls(image), ...figuresOf(image.perImage)]),
  ]),
})}${models.map(drawBatches)}${[...new Set(models.map(({ estimate }) => estimate.basis.formula))].map(formula => html`<p class="soft">Basis: ${formula}</p>`)}`;
}

function describeCalls({ calls, tiles }: ImageView): string {
  return `${formatFixed(calls, 1)}${tiles === undefined ? '' : ` of ${tiles} tiles`}`;
}

export function figuresOf({ ms, lowMs, highMs }: LatencyEstimate): readonly string[] {
  return [formatMs(ms), formatMs(lowMs), formatMs(highMs)];
}

function drawBatches({ name, estimate: { batches } }: CompiledModel): HtmlValue {
  if (batches === undefined) return undefined;
  return drawTable({
    caption: `${name}: estimated milliseconds per image by batch size.`,
    columns: [
      text('Batch'),
      number('Calls per image'),
      number('Padded RoIs'),
      number('Estimate'),
      number('Lower bound'),
      number('Upper bound'),
      text(''),
    ],
    rows: batches.rows.map(({ batch, calls, padded, perImage }) => [
      String(batch),
      formatFixed(calls, 1),
      formatFixed(padded, 1),
      ...figuresOf(perImage),
      batches.rows.length > 1 && batch === batches.best ? drawBadge('good', 'best') : '',
    ]),
  });
}
