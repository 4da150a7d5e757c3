/** The view "Pipeline": every stage with its state, its last run, figures, gates and outputs. */
import type { Explanation } from '../../engine/insight/explain/explain-stages.js';
import { headlinesOf } from '../../engine/insight/history/record-run.js';
import type { RunRecord } from '../../engine/insight/history/run-record.js';
import { artifactPath } from '../../engine/model/artifact-path.js';
import { dependenciesOf } from '../../engine/model/dependencies.js';
import type { Diagnostic } from '../../engine/model/diagnostic.js';
import { checkGate } from '../../engine/model/gate-result.js';
import type { InputRef, Plan, PlannedStage } from '../../engine/model/plan.js';
import { countRecords } from '../../engine/store/count-records.js';
import type {
  FigureView,
  GateView,
  InputRefView,
  LastOutcome,
  OutputView,
  PipelineView,
  ProblemView,
  ProjectFacts,
  RunTimeline,
  StageRow,
} from '../../report/views/pipeline-data.js';
import { orderNames, REPORT_PORTS, type ReportEntryView } from '../../report/views/report-data.js';
import { withCheckedParams } from '../../stage/define-stage.js';
import type { ProjectState } from '../project/live-project.js';
import type { ProjectPorts } from '../project/project-ports.js';
import type { StageResult } from '../project/stage-results.js';
import { findLastOutcomes } from './last-outcomes.js';

export function factsOf({ projectFolder, pipeline, file, version, access }: ProjectPorts): ProjectFacts {
  return { folder: projectFolder, pipeline, file: file.name, version, access };
}

export function viewPipeline(state: ProjectState, ports: ProjectPorts): PipelineView {
  const { plan, diagnostics, version, readMs, runs } = state;
  const lastRun = findTimeline(runs);
  const last = findLastOutcomes(runs);
  const names = plan === undefined ? [] : [...plan.targets].filter(([name, ids]) => ids.length > 1 || ids[0] !== name);
  return {
    version,
    readMs,
    project: factsOf(ports),
    problems: diagnostics.map(viewProblem),
    params: plan?.params ?? {},
    stages: plan === undefined ? [] : [...plan.stages.values()].map(stage => viewRow(plan, stage, state, last.get(stage.id))),
    groups: Object.fromEntries(names),
    ...(lastRun === undefined ? {} : { lastRun }),
    ...(state.results.size === 0 ? { cacheHolds: countRecords(state.cache) } : {}),
    ...viewReport(plan),
  };
}

/** What the first stage that writes a report connects to it. */
function viewReport(plan: Plan | undefined): Pick<PipelineView, 'report'> {
  const stage = [...(plan?.stages.values() ?? [])].find(({ plugin }) => plugin.name === 'report');
  if (stage === undefined) return {};
  const { title, order } = stage.params;
  const known = Array.isArray(order) ? order.filter(name => typeof name === 'string') : [];
  const entries = REPORT_PORTS.flatMap((port): readonly ReportEntryView[] => {
    const binding = stage.inputs[port];
    if (binding?.kind !== 'record') return [];
    return orderNames(Object.keys(binding.entries), known).flatMap(name => {
      const ref = binding.entries[name];
      if (ref === undefined) return [];
      return [{ port, name, ...(ref.kind === 'source' ? {} : { stage: ref.stage, output: ref.port }) }];
    });
  });
  return { report: { stage: stage.id, title: typeof title === 'string' ? title : stage.id, entries } };
}

export function viewProblem({ severity, code, message, help, span }: Diagnostic): ProblemView {
  const place = span === undefined ? {} : { file: span.file, line: span.line, column: span.column };
  return { severity, code, message, ...(help === undefined ? {} : { help }), ...place };
}

function viewRow(plan: Plan, stage: PlannedStage, { explained, results }: ProjectState, last: LastOutcome | undefined): StageRow {
  const explanation = explained.get(stage.id);
  const result = results.get(stage.id);
  return {
    id: stage.id,
    group: stage.group,
    plugin: stage.plugin.name,
    dependsOn: dependenciesOf(stage),
    state: explanation?.status.kind ?? 'undecided',
    why: explanation === undefined ? [] : reasonsOf(explanation),
    built: result !== undefined,
    ...(result?.at === 'cache' ? { cached: true } : {}),
    ...(last === undefined ? {} : { last }),
    ...(result === undefined ? {} : { durationMs: result.durationMs, key: result.key }),
    figures: figuresOf(stage, result),
    gates: gatesOf(stage, result),
    outputs: outputsOf(plan, stage, result),
    inputs: inputRefsOf(stage),
  };
}

function inputRefsOf({ inputs }: PlannedStage): readonly InputRefView[] {
  const view = (name: string, ref: InputRef): InputRefView =>
    ref.kind === 'source' ? { name, path: ref.path } : { name, stage: ref.stage, port: ref.port };
  return Object.entries(inputs).flatMap(([port, binding]) =>
    binding.kind === 'record'
      ? Object.entries(binding.entries).map(([entry, ref]) => view(`${port}.${entry}`, ref))
      : [view(port, binding)],
  );
}

/** Why a stage is not up to date: root causes where they are known. */
export function reasonsOf({ status, causes }: Pick<Explanation, 'status' | 'causes'>): readonly string[] {
  switch (status.kind) {
    case 'up-to-date':
      return [];
    case 'impossible':
      return [status.failure.message, ...(status.failure.help === undefined ? [] : [status.failure.help])];
    case 'blocked':
      return [`${status.because} cannot run`];
    default: {
      const roots = causes.map(({ text, path }) => (path.length > 1 ? `${text} ⇒ ${path.slice(0, -1).join(' ⇒ ')}` : text));
      if (roots.length > 0) return roots;
      if ('reasons' in status) return status.reasons;
      return [`it depends on the result of ${status.because.join(', ')}`];
    }
  }
}

/** The headlines that the plugin names; of a plugin that names none, its first figures. */
function figuresOf({ plugin, params }: PlannedStage, result: StageResult | undefined): readonly FigureView[] {
  if (result?.metrics === undefined) return [];
  const values = headlinesOf(result.metrics);
  const previous = result.previousMetrics === undefined ? {} : headlinesOf(result.previousMetrics);
  const { headlines = [] } = withCheckedParams(plugin.plugin);
  const named = typeof headlines === 'function' ? headlines(params) : headlines;
  const metrics =
    named.length > 0
      ? named
      : Object.keys(values)
          .slice(0, 2)
          .map(metric => ({ metric, label: metric }));
  return metrics.flatMap(({ metric, label, ...unit }) => {
    const value = values[metric];
    const before = previous[metric];
    if (value === undefined) return [];
    return [{ label, metric, value, ...(before === undefined || before === value ? {} : { previous: before }), ...unit }];
  });
}

export function gatesOf(
  { id, gate }: Pick<PlannedStage, 'id' | 'gate'>,
  result: Pick<StageResult, 'metrics'> | undefined,
): readonly GateView[] {
  return gate.map(one => {
    const bound = `${one.operator} ${one.bound}`;
    if (result === undefined) return { metric: one.metric, bound, verdict: 'unknown' };
    const { value, verdict, reasons } = checkGate(id, one, result.metrics);
    const known = { ...(value === undefined ? {} : { value }), ...(reasons === undefined ? {} : { reasons }) };
    return { metric: one.metric, bound, ...known, verdict };
  });
}

export function outputsOf(plan: Plan, stage: PlannedStage, result: StageResult | undefined): readonly OutputView[] {
  return Object.entries(stage.outputPorts).map(([port, { kind }]) => {
    const artifact = result?.outputs[port];
    const known = artifact === undefined ? {} : { sizeBytes: artifact.sizeBytes, digest: artifact.digest };
    return { port, kind, path: artifactPath(plan, stage, port), tree: artifact?.kind === 'tree', ...known };
  });
}

/** Spans that the timeline shows: the runs of stages, and waits for a slot. */
const SHOWN = ['run', 'restore', 'wait'];

function findTimeline(runs: readonly RunRecord[]): RunTimeline | undefined {
  const run = runs.findLast(({ stages }) => stages.some(({ outcome }) => outcome === 'executed' || outcome === 'failed'));
  return run === undefined ? undefined : viewTimeline(run);
}

export function viewTimeline({ run, started, durationMs, conclusion, criticalPath, stages }: RunRecord): RunTimeline {
  return {
    run,
    started,
    durationMs,
    conclusion,
    criticalPath,
    stages: stages
      .filter(({ outcome }) => outcome !== 'up-to-date')
      .map(({ stage, outcome, spans = [] }) => ({
        stage,
        outcome,
        spans: spans.filter(({ what }) => SHOWN.includes(what)).map(({ what, atMs, durationMs: ms }) => ({ what, atMs, durationMs: ms })),
      })),
  };
}
