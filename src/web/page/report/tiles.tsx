/** The main figures of a report, each on a tile. Measured and estimated times have tiles of their own. */

import type { ComponentChildren } from 'preact';
import { capitalize } from '../../../base/text/capitalize.js';
import { formatDuration } from '../../../base/text/format.js';
import { COCO_KINDS, KIND_NAMES } from '../../../detection/coco/figure-names.js';
import type { QuantizationReport } from '../../../quant/report/report-entries.js';
import { formatCount, formatDelta, formatFixed, formatMs, formatNumber, formatShare } from '../../../report/numbers.js';
import type { BenchReport } from '../../../runtime/measure/bench-report.js';
import { sumEstimates } from '../../../target/estimate/estimate.js';
import type { CompileReport } from '../compile/compile-report.js';
import { findCocoFigure } from '../parts/coco-figures.js';
import { isOutdated } from '../parts/states.js';
import { plainText } from '../parts/text.js';
import { addPerImage, describeFastest, nameDevice } from './bench-figures.js';
import { listGates } from './gates.js';
import { countOutcomes } from './outcomes.js';
import type { Named, ReportResults } from './report-results.js';

interface Tile {
  readonly label: string;
  readonly value: ComponentChildren;
  readonly note?: string;
}

export function Tiles({ results }: { readonly results: ReportResults }) {
  const tiles = listTiles(results);
  if (tiles.length === 0) return null;
  return (
    <dl class="facts tiles figures">
      {tiles.map(({ label, value, note }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>
            <b>{value}</b>
            {note !== undefined && <div class="soft">{note}</div>}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function listTiles({ pipeline, metrics, quantization, compile, bench }: ReportResults): readonly Tile[] {
  return [
    ...gateTile(pipeline),
    ...COCO_KINDS.flatMap(kind => accuracyTile(kind, metrics)),
    ...quantizationTile(quantization),
    ...compile.flatMap(({ name, value }) => partitionTile(compile.length > 1 ? name : undefined, value)),
    ...bench.flatMap(({ name, value }) => latencyTile(bench.length > 1 ? name : undefined, value)),
    ...compile.flatMap(({ name, value }) => estimateTile(compile.length > 1 ? name : undefined, value)),
    ...buildTile(pipeline),
  ];
}

export function gateTile({ project, stages }: Pick<ReportResults['pipeline'], 'project' | 'stages'>): readonly Tile[] {
  const gates = listGates(stages);
  if (gates.length === 0) return [];
  const count = (verdict: string): number => gates.filter(({ gate }) => gate.verdict === verdict).length;
  const [missed, unknown] = [count('missed'), count('unknown')];
  if (missed > 0)
    return [{ label: 'Gates', value: <span class="bad">{`✗ ${missed} of ${gates.length} missed`}</span>, note: 'named below' }];
  if (unknown > 0) return [{ label: 'Gates', value: `${unknown} of ${gates.length} unknown`, note: 'their stages are not built' }];
  const value = `✓ ${gates.length} of ${gates.length} met`;
  const isStale = project.access !== 'saved' && stages.some(stage => stage.gates.length > 0 && isOutdated(stage));
  if (isStale) return [{ label: 'Gates', value, note: 'by results that are out of date' }];
  // A saved page does not know the gates of stages without a result.
  if (stages.some(({ built }) => !built)) return [{ label: 'Gates', value, note: 'of the stages that are built' }];
  return [{ label: 'Gates', value: <span class="good">{value}</span>, note: 'every bound of the pipeline holds' }];
}

/** From the first entry to the last. */
function accuracyTile(kind: (typeof COCO_KINDS)[number], metrics: ReportResults['metrics']): readonly Tile[] {
  const [first, last] = [metrics[0], metrics.at(-1)];
  if (first === undefined || last === undefined) return [];
  const [from, to] = [findCocoFigure(first.value, kind, 'AP'), findCocoFigure(last.value, kind, 'AP')];
  if (to === undefined) return [];
  const label = `${capitalize(KIND_NAMES[kind])} AP`;
  if (from === undefined || first === last) return [{ label: `${label}, ${plainText(last.name)}`, value: formatFixed(to, 4) }];
  return [
    {
      label: `${label}, ${plainText(first.name)} to ${plainText(last.name)}`,
      value: formatDelta(to - from, 4),
      note: `${formatFixed(from, 4)} → ${formatFixed(to, 4)}`,
    },
  ];
}

function quantizationTile(quantization: readonly Named<QuantizationReport>[]): readonly Tile[] {
  if (quantization.length === 0) return [];
  const schemes = [...new Set(quantization.map(({ value }) => describeScheme(value)))];
  const inFloat = quantization.reduce((sum, { value }) => sum + value.inFloat.length, 0);
  const samples = [...new Set(quantization.map(({ value }) => value.samples))].map(formatCount).join(' or ');
  return [
    {
      label: 'Activations / weights',
      value: plainText(schemes.join(', ')),
      note: `calibrated on ${samples} samples, ${inFloat === 0 ? 'no node' : `${formatCount(inFloat)} nodes`} left in float`,
    },
  ];
}

/** "uint8 / int8". */
export function describeScheme({ scheme }: QuantizationReport): string {
  const dtypeOf = (name: string): string => {
    const part = scheme[name];
    const dtype = typeof part === 'object' && part !== null && 'dtype' in part ? part.dtype : undefined;
    return typeof dtype === 'string' ? dtype : '?';
  };
  return `${dtypeOf('activation')} / ${dtypeOf('weight')}`;
}

function partitionTile(name: string | undefined, { target, models }: CompileReport): readonly Tile[] {
  const add = (of: (counts: CompileReport['models'][number]['counts']) => number): number =>
    models.reduce((sum, { counts }) => sum + of(counts), 0);
  const [macs, onNpu] = [add(counts => counts.macs), add(counts => counts.npuMacShare * counts.macs)];
  const [nodes, npuNodes] = [add(counts => counts.nodes - counts.edgeNodes), add(counts => counts.npuNodes)];
  return [
    {
      label: name === undefined ? 'On the NPU' : `${plainText(name)}, on the NPU`,
      value: macs === 0 ? '–' : `${formatShare(onNpu / macs)} of the MACs`,
      note: `${formatCount(npuNodes)} of ${formatCount(nodes)} nodes; ${plainText(target.title)}, ${plainText(target.device)}`,
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
      label: `${name === undefined ? 'Detector' : `${plainText(name)}, detector`} per image, measured`,
      value: formatLatency(total),
      note: `on ${nameDevice(bench)}${models === 0 ? '' : `; its models take ${formatLatency(models)} of it`}`,
    },
  ];
}

function latencyTile(name: string | undefined, bench: BenchReport): readonly Tile[] {
  if (bench.where.runner === 'bundle') return boardTile(name, bench);
  const [float, int8] = [addPerImage(bench, 'float'), addPerImage(bench, 'int8')];
  const last = int8 ?? float;
  if (last === undefined) return [];
  const before = float === undefined || int8 === undefined ? '' : `float ${formatLatency(float)}; `;
  return [
    {
      label: `${name === undefined ? 'Models' : `${plainText(name)}, models`} per image, measured`,
      value: formatLatency(last),
      note: `${before}on ${nameDevice(bench)}; ${describeFastest(bench, int8 === undefined ? 'float' : 'int8')}; without the host's work`,
    },
  ];
}

function formatLatency(ms: number): string {
  return `${formatNumber(Number(ms.toPrecision(3)))} ms`;
}

function estimateTile(name: string | undefined, { models }: CompileReport): readonly Tile[] {
  const images = models.filter(({ replacedBy }) => replacedBy === undefined).map(({ estimate }) => estimate.image?.perImage);
  if (!images.every(image => image !== undefined)) return [];
  const { ms, lowMs, highMs } = sumEstimates(images);
  if (ms === 0) return [];
  return [
    {
      label: name === undefined ? 'On the target, estimate' : `${plainText(name)}, on the target, estimate`,
      value: `${formatMs(ms)} ms`,
      note: `${formatMs(lowMs)} to ${formatMs(highMs)} ms per image, without the host's own work; not measured`,
    },
  ];
}

function buildTile({ stages }: ReportResults['pipeline']): readonly Tile[] {
  const built = stages.filter(stage => stage.built);
  if (built.length === 0) return [];
  const durationMs = built.reduce((sum, stage) => sum + (stage.durationMs ?? 0), 0);
  return [
    {
      label: 'Stages',
      value: String(built.length),
      note: `${countOutcomes(built)}; their runs took ${formatDuration(durationMs)} together`,
    },
  ];
}
