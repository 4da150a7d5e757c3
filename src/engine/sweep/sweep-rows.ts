/** The rows of a sweep: what the build of the merged plan says of each configuration. */
import type { Figure } from '../../base/figure.js';
import { dependenciesOf, refsOf, selectStages } from '../model/dependencies.js';
import { flattenHeadlines, flattenMetrics, isOwnFigure } from '../model/metrics.js';
import type { Plan, StageId } from '../model/plan.js';
import type { BuildReport } from '../model/report.js';
import type { Configuration } from './configurations.js';
import type { MergedPlans } from './merge-plans.js';
import type { SweepTargets } from './sweep-targets.js';

/** 'refused': its values make no valid plan. 'interrupted': some of its stages have not run. */
export type RowStatus = 'built' | 'gate-missed' | 'failed' | 'refused' | 'interrupted';

export interface Problem {
  /** undefined for a refused configuration. The id in the pipeline. */
  readonly stage: StageId | undefined;
  readonly code: string;
  readonly message: string;
}

export interface SweepRow {
  readonly configuration: Configuration;
  readonly status: RowStatus;
  /** Metrics of the reported stages: "evaluate-int8.bbox.AP"; of each stage by name, as documents from the cache have another order. */
  readonly figures: ReadonlyMap<string, Figure>;
  /** The keys of the figures that tables show. */
  readonly headlines: ReadonlySet<string>;
  /** Gates that are missed: stage and metric. */
  readonly missed: readonly string[];
  /** Of the models that the configuration ends with; undefined if there are none, or one of them is missing. */
  readonly sizeBytes: number | undefined;
  readonly problems: readonly Problem[];
}

/** Everything of it was built; a gate may be missed. */
export function isBuilt({ status }: Pick<SweepRow, 'status'>): boolean {
  return status === 'built' || status === 'gate-missed';
}

export interface Built {
  readonly merged: MergedPlans;
  readonly targets: SweepTargets;
  readonly report: BuildReport;
}

/** @param ids the configuration's stages in the merged plan. */
export function makeRow(configuration: Configuration, ids: ReadonlyMap<StageId, StageId>, built: Built): SweepRow {
  const { merged, targets, report } = built;
  const wanted = new Set(targets.build);
  const own = selectStages(
    merged.plan,
    [...ids.values()].filter(id => wanted.has(id)),
  );
  const ofPipeline = new Map([...ids].map(([id, inMerged]) => [inMerged, id]));
  const problems: Problem[] = [];
  let cancelled = false;
  for (const { id } of own) {
    const outcome = report.stages.get(id)?.outcome;
    cancelled ||= outcome?.kind === 'cancelled';
    if (outcome?.kind === 'failed')
      problems.push({ stage: ofPipeline.get(id), code: outcome.failure.code, message: outcome.failure.message });
  }
  const ownIds = new Set(own.map(({ id }) => id));
  const missed = report.gates.flatMap(({ stage, gate, verdict }) =>
    verdict === 'missed' && ownIds.has(stage) ? [`${ofPipeline.get(stage)}.${gate.metric}`] : [],
  );
  const figures = new Map<string, Figure>();
  const headlines = new Set<string>();
  for (const stage of targets.reported) {
    const id = ids.get(stage);
    const metrics = id === undefined ? undefined : report.stages.get(id)?.metrics;
    if (metrics === undefined) continue;
    const flat = [...flattenMetrics(metrics)].sort(([a], [b]) => (a < b ? -1 : 1));
    for (const [path, figure] of flat) figures.set(`${stage}.${path}`, figure);
    for (const path of flattenHeadlines(metrics).keys()) if (isOwnFigure(path)) headlines.add(`${stage}.${path}`);
  }
  const status = problems.length > 0 ? 'failed' : cancelled ? 'interrupted' : missed.length > 0 ? 'gate-missed' : 'built';
  return { configuration, status, figures, headlines, missed, sizeBytes: sizeOf(ids, ownIds, built), problems };
}

/**
 * The sum of the models that the sweep changes and that no stage of the configuration turns into another model:
 * in a pipeline with `quantize`, the quantized ones.
 */
function sizeOf(ids: ReadonlyMap<StageId, StageId>, own: ReadonlySet<StageId>, { merged, report }: Built): number | undefined {
  const makers = [...ids].flatMap(([id, inMerged]) => {
    const changed = merged.changed.size === 0 || merged.changed.has(id);
    return changed && own.has(inMerged) && modelPorts(merged.plan, inMerged).length > 0 ? [inMerged] : [];
  });
  const turned = new Set(makers.flatMap(id => modelsRead(merged.plan, id)));
  const last = makers.filter(id => !turned.has(id));
  if (last.length === 0) return undefined;
  let sizeBytes = 0;
  for (const id of last) {
    for (const port of modelPorts(merged.plan, id)) {
      const one = report.stages.get(id)?.sizesBytes?.[port];
      if (one === undefined) return undefined;
      sizeBytes += one;
    }
  }
  return sizeBytes;
}

function modelPorts(plan: Plan, id: StageId): readonly string[] {
  return Object.entries(plan.stages.get(id)?.outputPorts ?? {}).flatMap(([port, { kind }]) => (kind === 'onnx-model' ? [port] : []));
}

/** The stages whose models the stage reads. */
function modelsRead(plan: Plan, id: StageId): readonly StageId[] {
  const stage = plan.stages.get(id);
  if (stage === undefined || dependenciesOf(stage).length === 0) return [];
  return Object.values(stage.inputs)
    .flatMap(refsOf)
    .flatMap(ref => (ref.kind === 'artifact' && modelPorts(plan, ref.stage).includes(ref.port) ? [ref.stage] : []));
}
