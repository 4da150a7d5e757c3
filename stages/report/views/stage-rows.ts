/** The stages of a build as the views of the page show them. */
import type { Figure } from '../../../src/base/figure.js';
import { isJsonObject, type Json, type JsonObject } from '../../../src/base/json.js';
import type { FigureView, GateView, InputRefView, OutputView, PipelineView, StageRow } from '../../../src/report/views/pipeline-data.js';
import type { ReportView } from '../../../src/report/views/report-data.js';
import type { InputView, StageView } from '../../../src/report/views/stage-data.js';
import type { BuildSummary, SummarizedInput, SummarizedMissing, SummarizedStage } from '../../../src/stage/build-summary.js';

/**
 * @param figures of stages whose metrics are connected, by stage.
 * @param holds whether the page has the content of an output.
 */
export function describeStages(
  { stages, missing = [] }: BuildSummary,
  report: ReportView,
  figures: ReadonlyMap<string, JsonObject>,
  holds: (stage: string, port: string) => boolean,
): PipelineView {
  return {
    readMs: 0,
    version: 1,
    project: { folder: '', pipeline: '', file: report.title, version: '', access: 'saved' },
    problems: [],
    params: {},
    stages: [...stages.map(stage => rowOf(stage, figures.get(stage.stage), holds)), ...missing.map(missingRow)],
    groups: {},
    report,
  };
}

function rowOf(stage: SummarizedStage, metrics: JsonObject | undefined, holds: (stage: string, port: string) => boolean): StageRow {
  const dependsOn = new Set(stage.reads.flatMap(one => (one.kind === 'artifact' ? [one.stage] : [])));
  return {
    id: stage.stage,
    group: stage.group,
    plugin: stage.plugin,
    dependsOn: [...dependsOn],
    state: 'up-to-date',
    why: [],
    built: true,
    outcome: stage.outcome,
    last: { outcome: stage.outcome, ...(stage.from === undefined ? {} : { from: stage.from }) },
    key: stage.key,
    durationMs: stage.durationMs,
    figures: metrics === undefined ? [] : figuresOf(metrics),
    gates: stage.gates.map(gateOf),
    outputs: outputsOf(stage).map(output => (holds(stage.stage, output.port) ? output : { ...output, absent: true })),
    inputs: stage.reads.map(refOf),
  };
}

function missingRow({ stage, outcome, reason }: SummarizedMissing): StageRow {
  const row = {
    id: stage,
    group: stage.split('@')[0] ?? stage,
    plugin: '',
    dependsOn: [],
    state: 'impossible',
    why: [`${outcome}: ${reason}`],
  } as const;
  return { ...row, built: false, figures: [], gates: [], outputs: [], inputs: [] };
}

function outputsOf({ stage, outputs }: SummarizedStage): readonly OutputView[] {
  return outputs.map(({ port, kind, digest, sizeBytes }) => ({ port, kind, path: `${stage}.${port}`, tree: false, sizeBytes, digest }));
}

function nameOf({ port, entry }: SummarizedInput): string {
  return entry === undefined ? port : `${port}.${entry}`;
}

function refOf(input: SummarizedInput): InputRefView {
  const name = nameOf(input);
  return input.kind === 'source' ? { name, path: input.source } : { name, stage: input.stage, port: input.output };
}

function gateOf({ metric, operator, bound, value, verdict, reasons }: SummarizedStage['gates'][number]): GateView {
  return {
    metric,
    bound: `${operator} ${bound}`,
    ...(value === undefined ? {} : { value }),
    verdict,
    ...(reasons === undefined ? {} : { reasons }),
  };
}

/** The figures of detectors; of other metrics the first ones. */
const NAMED: readonly (readonly [string, string])[] = [
  ['Box AP', 'bbox.AP'],
  ['Mask AP', 'segm.AP'],
];

const MOST_FIGURES = 2;

function figuresOf(metrics: JsonObject): readonly FigureView[] {
  const named = NAMED.flatMap(([label, metric]): readonly FigureView[] => {
    const value = metric.split('.').reduce<Json | undefined>((at, key) => (isJsonObject(at) ? at[key] : undefined), metrics);
    return typeof value === 'number' ? [{ label, metric, value }] : [];
  });
  if (named.length > 0) return named;
  const plain = Object.entries(metrics).filter((entry): entry is [string, Figure & number] => typeof entry[1] === 'number');
  return plain.slice(0, MOST_FIGURES).map(([metric, value]) => ({ label: metric, metric, value }));
}

/** A page in a file has neither the pipeline file nor the history: `file` is empty. */
export function describeStage(stage: SummarizedStage, metrics: JsonObject | undefined): StageView {
  return {
    version: 1,
    id: stage.stage,
    group: stage.group,
    plugin: stage.plugin,
    description: '',
    file: '',
    line: 0,
    state: 'up-to-date',
    why: [],
    determinism: stage.determinism,
    params: [],
    inputs: stage.reads.map(inputOf),
    outputs: outputsOf(stage),
    ...(metrics === undefined ? {} : { metrics }),
    key: stage.key,
    history: [],
  };
}

function inputOf(input: SummarizedInput): InputView {
  const name = nameOf(input);
  return input.kind === 'source'
    ? { name, from: { kind: 'source', path: input.source } }
    : { name, from: { kind: 'artifact', stage: input.stage, port: input.output } };
}
