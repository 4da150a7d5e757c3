/** Formats estimates by layer, and the fit of estimates to measurements. */

import { countOf } from '../../base/text/count-of.js';
import { fixed } from '../../base/text/fixed.js';
import type { Recalibrated } from '../../target/estimate/fit/recalibrate.js';
import { type LayerRow, listLayers } from '../../target/estimate/layer-rows.js';
import type { CompileReport, LatencyEstimate, TargetIdentity } from '../../target/report/compile-report.js';
import type { Style } from '../terminal/style.js';
import { formatTable } from '../terminal/text-table.js';

export interface ModelLayers {
  readonly name: string;
  readonly perCall: LatencyEstimate;
  readonly fixedMs: number;
  readonly layers: readonly LayerRow[];
}

/** Models whose report has times per unit. */
export function layersOf({ models }: CompileReport): readonly ModelLayers[] {
  return models.flatMap(model => {
    const layers = listLayers(model);
    return layers === undefined
      ? []
      : [{ name: model.name, perCall: model.estimate.image.perCall, fixedMs: layers.fixedMs, layers: layers.rows }];
  });
}

/** Layers of a model that are listed without --all. */
const SOME = 12;

export function formatLayers(
  target: TargetIdentity,
  models: readonly ModelLayers[],
  { show, style }: { readonly show: 'all' | 'some'; readonly style: Style },
): readonly string[] {
  const head = style(
    'bold',
    `estimate for ${target.profile} ${target.device}, ${target.dtype}, software ${target.version}; nothing is measured`,
  );
  if (models.length === 0) return [head, 'the report has no times per layer: build the stage again'];
  return [head, ...models.flatMap(model => ['', ...formatModel(model, show)])];
}

function formatModel({ name, perCall, fixedMs, layers }: ModelLayers, show: 'all' | 'some'): readonly string[] {
  const listed = show === 'all' ? layers : [...layers].sort((a, b) => b.ms - a.ms).slice(0, SOME);
  const left = layers.length - listed.length;
  const { ms, lowMs, highMs } = perCall;
  return [
    `${name}: ${formatMs(ms)} ms per call (${formatMs(lowMs)} to ${formatMs(highMs)}), of which ${formatMs(fixedMs)} ms fixed, ${countOf(layers.length, 'unit')}`,
    ...formatTable([
      ['layer', 'operator', 'runs on', 'MACs', 'bytes', 'bound by', 'ms', 'share'],
      ...listed.map(row => [
        row.name,
        row.opType,
        row.device === 'npu' ? 'NPU' : 'CPU',
        formatAmount(row.macs),
        formatAmount(row.bytes),
        row.bound ?? '–',
        formatMs(row.ms),
        `${(100 * row.share).toFixed(1)} %`,
      ]),
    ]),
    ...(left > 0 ? [`${left} shorter ones: --all`] : []),
  ];
}

export function formatTraceLines(path: string | undefined): readonly string[] {
  return path === undefined ? [] : ['', `trace in ${path}: open it with https://ui.perfetto.dev`];
}

export interface FitView {
  readonly identity: TargetIdentity;
  readonly unused: readonly { readonly model: string; readonly why: string }[];
  readonly output: string | undefined;
  readonly style: Style;
}

export function formatFit({ rows, published, spread, fit }: Recalibrated, view: FitView): readonly string[] {
  const { identity, unused, output, style } = view;
  const inside = rows.filter(({ measuredMs, afterMs }) => Math.abs(Math.log(measuredMs / afterMs)) <= Math.log(spread)).length;
  return [
    style(
      'bold',
      `${identity.profile} ${identity.device}, ${identity.dtype}, software ${identity.version}: ${countOf(rows.length, 'measured model')}`,
    ),
    '',
    ...formatTable([
      ['model', 'measured, ms', 'estimate before, ms', 'after, ms', 'residual', 'left out, ms'],
      ...rows.map(({ network, measuredMs, beforeMs, afterMs, leftOutMs }) => [
        network,
        formatMs(measuredMs),
        formatMs(beforeMs),
        formatMs(afterMs),
        formatPercent(afterMs / measuredMs - 1),
        leftOutMs === undefined ? '–' : formatMs(leftOutMs),
      ]),
    ]),
    ...unused.map(({ model, why }) => `not used: ${model}: ${why}`),
    '',
    `${inside} of ${rows.length} measured times are within the estimate divided and multiplied by ${spread.toFixed(2)}`,
    ...(published.points === 0
      ? []
      : [
          `${countOf(published.points, 'published point')}: median error ${share(published.medianErrorBefore)} before, ${share(published.medianErrorAfter)} after`,
        ]),
    '',
    ...formatTable([
      ['constant', 'value', 'one standard error'],
      ...Object.entries(fit.constants).map(([name, { value, error }]) => [name, formatAmount(value), `× and ÷ ${error.toFixed(2)}`]),
      ...[...fit.releases].map(([version, { value, error }]) => [
        `factor of ${version}`,
        value.toFixed(2),
        error === 1 ? '–' : `× and ÷ ${error.toFixed(2)}`,
      ]),
    ]),
    ...(output === undefined
      ? ['', 'nothing is written: -o PROFILE.json keeps the constants']
      : ['', `${output}: connect it as \`profile\` of compile, or \`tanren lint --target ${output}\``]),
  ];
}

function share(value: number): string {
  return `${(100 * value).toFixed(0)} %`;
}

function formatPercent(value: number): string {
  const text = fixed(100 * Math.abs(value), 0);
  return text === '0' ? '0 %' : `${value < 0 ? '−' : '+'}${text} %`;
}

function formatMs(ms: number): string {
  return ms >= 100 ? ms.toFixed(0) : ms >= 10 ? ms.toFixed(1) : ms >= 1 ? ms.toFixed(2) : ms.toFixed(3);
}

/** "1.81 G", "602 k". */
function formatAmount(value: number): string {
  for (const [unit, size] of [
    ['T', 1e12],
    ['G', 1e9],
    ['M', 1e6],
    ['k', 1e3],
  ] as const)
    if (value >= size) return `${Number((value / size).toPrecision(3))} ${unit}`;
  return String(Number(value.toPrecision(3)));
}
