/** Summary of the page: the main figures, and all gates. */

import { formatDuration } from '../../src/base/text/format.js';
import type { QuantizationReport } from '../../src/quant/report/report-entries.js';
import { drawBadge, drawTiles, type Tile } from '../../src/report/document.js';
import { type Html, html } from '../../src/report/html.js';
import { formatCount, formatDelta, formatFigure, formatFixed, formatNumber, formatShare } from '../../src/report/numbers.js';
import type { BenchReport } from '../../src/runtime/measure/bench-report.js';
import type { BuildSummary, SummarizedGate } from '../../src/stage/build-summary.js';
import { sumEstimates } from '../../src/target/estimate/estimate.js';
import type { Named } from './entries.js';
import type { CompileView } from './readers/read-compile.js';
import { findFigure, type Metrics } from './sections/accuracy-section.js';
import { addPerImage, describeFastest, figuresOf, nameDevice } from './sections/latency-section.js';
import { countOutcomes } from './sections/pipeline-section.js';

export interface SummaryData {
  readonly build: BuildSummary;
  readonly metrics: readonly Metrics[];
  readonly quantization: readonly Named<QuantizationReport>[];
  readonly compile: readonly Named<CompileView>[];
  readonly bench: readonly Named<BenchReport>[];
}

export function drawSummary(data: SummaryData): Html {
  const gates = data.build.stages.flatMap(({ stage, gates: own }) => own.map(gate => ({ stage, gate })));
  const missed = gates.filter(({ gate }) => gate.verdict === 'missed');
  const tiles: readonly Tile[] = [
    ...(gates.length === 0 ? [] : [gateTile(gates.length, missed.length)]),
    ...(['bbox', 'segm'] as const).flatMap(kind => accuracyTile(kind, data.metrics)),
    ...quantizationTile(data.quantization),
    ...data.compile.flatMap(partitionTile),
    ...data.bench.flatMap(({ name, value }) => latencyTile(data.bench.length > 1 ? name : undefined, value)),
    ...data.compile.flatMap(estimateTile),
    ...buildTile(data.build),
  ];
  return html`${drawTiles(tiles)}${gates.length === 0 ? undefined : drawGates(gates)}`;
}

function gateTile(count: number, missed: number): Tile {
  return {
    label: 'Gates',
    value:
      missed === 0
        ? html`<span class="good">✓ ${count} of ${count} met</span>`
        : html`<span class="bad">✗ ${missed} of ${count} missed</span>`,
    note: missed === 0 ? 'every bound of the pipeline holds' : 'named below',
  };
}

function drawGates(gates: readonly { readonly stage: string; readonly gate: SummarizedGate }[]): Html {
  const missed = gates.filter(({ gate }) => gate.verdict === 'missed');
  const list = html`<ul class="gates">${[...missed, ...gates.filter(one => !missed.includes(one))].map(
    ({ stage, gate: { metric, operator, bound, value, verdict, reasons = [] } }) =>
      html`<li>${verdict === 'met' ? drawBadge('good', '✓ met') : drawBadge('bad', '✗ missed')} ${stage}: <code>${metric} ${operator} ${formatNumber(bound)}</code>, is ${value === undefined ? 'missing' : formatFigure(value)}${reasons.map(reason => html`<br>${reason}`)}</li>\n`,
  )}</ul>`;
  return html`<details class="plain"${missed.length > 0 ? html` open` : undefined}><summary>All gates</summary>${list}</details>
`;
}

/** From the first entry to the last. */
function accuracyTile(kind: 'bbox' | 'segm', metrics: readonly Metrics[]): readonly Tile[] {
  const [first, last] = [metrics[0], metrics.at(-1)];
  if (first === undefined || last === undefined) return [];
  const [from, to] = [findFigure(first.value, kind, 'AP'), findFigure(last.value, kind, 'AP')];
  if (to === undefined) return [];
  const label = kind === 'bbox' ? 'Box AP' : 'Mask AP';
  if (from === undefined || first === last) return [{ label: `${label}, ${last.name}`, value: formatFixed(to, 4) }];
  return [
    {
      label: `${label}, ${first.name} to ${last.name}`,
      value: html`${formatDelta(to - from, 4)}`,
      note: `${formatFixed(from, 4)} → ${formatFixed(to, 4)}`,
    },
  ];
}

function quantizationTile(quantization: readonly Named<QuantizationReport>[]): readonly Tile[] {
  if (quantization.length === 0) return [];
  const describe = (view: QuantizationReport): string => {
    const dtypeOf = (name: string): string => {
      const part = view.scheme[name];
      const dtype = typeof part === 'object' && part !== null && 'dtype' in part ? part.dtype : undefined;
      return typeof dtype === 'string' ? dtype : '?';
    };
    return `${dtypeOf('activation')} / ${dtypeOf('weight')}`;
  };
  const schemes = [...new Set(quantization.map(({ value }) => describe(value)))];
  const inFloat = quantization.reduce((sum, { value }) => sum + value.inFloat.length, 0);
  const samples = [...new Set(quantization.map(({ value }) => value.samples))].map(formatCount).join(' or ');
  return [
    {
      label: 'Activations / weights',
      value: schemes.join(', '),
      note: `calibrated on ${samples} samples, ${inFloat === 0 ? 'no node' : `${formatCount(inFloat)} nodes`} left in float`,
    },
  ];
}

function partitionTile({ value: { target, models } }: Named<CompileView>): readonly Tile[] {
  const macs = models.reduce((sum, { counts }) => sum + counts.macs, 0);
  const onNpu = models.reduce((sum, { counts }) => sum + counts.npuMacShare * counts.macs, 0);
  const nodes = models.reduce((sum, { counts }) => sum + counts.nodes - counts.edgeNodes, 0);
  const npuNodes = models.reduce((sum, { counts }) => sum + counts.npuNodes, 0);
  return [
    {
      label: 'On the NPU',
      value: macs === 0 ? '–' : html`${formatShare(onNpu / macs)} <span class="note">of the MACs</span>`,
      note: `${formatCount(npuNodes)} of ${formatCount(nodes)} nodes; ${target.title}, ${target.device}`,
    },
  ];
}

/** The whole detector of a bundle. */
function boardTile(name: string | undefined, bench: BenchReport): readonly Tile[] {
  const total = bench.detector?.steps.total?.p50Ms;
  if (total === undefined) return [];
  const models = Object.values(bench.detector?.models ?? {}).reduce((sum, { p50Ms }) => sum + p50Ms, 0);
  return [
    {
      label: `${name === undefined ? 'Detector' : `${name}, detector`} per image, measured`,
      value: `${formatNumber(Number(total.toPrecision(3)))} ms`,
      note: `on ${nameDevice(bench)}${models === 0 ? '' : `; its models take ${formatNumber(Number(models.toPrecision(3)))} ms of it`}`,
    },
  ];
}

function latencyTile(name: string | undefined, bench: BenchReport): readonly Tile[] {
  if (bench.where.runner === 'bundle') return boardTile(name, bench);
  const [float, int8] = [addPerImage(bench, 'float'), addPerImage(bench, 'int8')];
  const last = int8 ?? float;
  if (last === undefined) return [];
  return [
    {
      label: `${name === undefined ? 'Models' : `${name}, models`} per image, measured`,
      value: `${formatNumber(Number(last.toPrecision(3)))} ms`,
      note: `${float === undefined || int8 === undefined ? '' : `float ${formatNumber(Number(float.toPrecision(3)))} ms; `}on ${nameDevice(bench)}; ${describeFastest(bench, int8 === undefined ? 'float' : 'int8')}; without the host's work`,
    },
  ];
}

function estimateTile({ value: { models } }: Named<CompileView>): readonly Tile[] {
  const images = models.filter(({ replacedBy }) => replacedBy === undefined).map(({ estimate }) => estimate.image?.perImage);
  if (!images.every(image => image !== undefined)) return [];
  const total = sumEstimates(images);
  if (total.ms === 0) return [];
  const [ms, low, high] = figuresOf(total);
  return [
    {
      label: 'On the target, estimate',
      value: `${ms} ms`,
      note: `${low} to ${high} ms per image, without the host's own work; not measured`,
    },
  ];
}

function buildTile({ stages }: BuildSummary): readonly Tile[] {
  if (stages.length === 0) return [];
  const durationMs = stages.reduce((sum, stage) => sum + stage.durationMs, 0);
  return [
    {
      label: 'Stages',
      value: String(stages.length),
      note: `${countOutcomes(stages)}; their runs took ${formatDuration(durationMs)} together`,
    },
  ];
}
