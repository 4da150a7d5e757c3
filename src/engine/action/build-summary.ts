/** The summary of a build that a stage may receive, and the part of it that is in the stage's key. */
import type { Digest } from '../../base/digest.js';
import { digestJson } from '../../base/digest.js';
import { getDefined, invariant } from '../../base/invariant.js';
import type { Json } from '../../base/json.js';
import type { BuildSummary, SummarizedGate, SummarizedInput, SummarizedMissing, SummarizedStage } from '../../stage/build-summary.js';
import type { AcceptedStage } from '../model/accepted-stage.js';
import { dependenciesOf } from '../model/dependencies.js';
import { checkGate } from '../model/gate-result.js';
import type { KnownResult } from '../model/known-result.js';
import type { Gate, InputRef, Plan, PlannedStage, StageId } from '../model/plan.js';
import type { StageEnd } from '../model/stage-end.js';

/** Returns every stage that `stage` depends on, directly or indirectly, in the plan's order. */
function stagesBefore(plan: Plan, stage: PlannedStage): readonly PlannedStage[] {
  const wanted = new Set<StageId>();
  const visit = (one: PlannedStage): void => {
    for (const id of dependenciesOf(one)) {
      if (wanted.has(id)) continue;
      wanted.add(id);
      visit(getDefined(plan.stages.get(id), id));
    }
  };
  visit(stage);
  return [...plan.stages.values()].filter(({ id }) => wanted.has(id));
}

/** Returns a digest per dependency for the manifest. Each covers the part of the summary that is the same in every build with the same results. */
export function digestStagesBefore(
  plan: Plan,
  stage: PlannedStage,
  resultOf: (stage: StageId) => KnownResult | undefined,
): Readonly<Record<string, Digest>> {
  const digests: Record<string, Digest> = {};
  for (const before of stagesBefore(plan, stage)) {
    const { key, outputs } = getDefined(resultOf(before.id), `result of ${before.id}`);
    const { group, plugin, determinism } = before;
    const artifacts = Object.fromEntries(Object.entries(outputs).map(([port, { kind, digest }]) => [port, [kind, digest]]));
    const gates = before.gate.map(({ metric, operator, bound }) => [metric, operator, bound]);
    digests[before.id] = digestJson({ group, plugin: plugin.name, determinism, key, artifacts, gates, reads: readsOf(before) as Json });
  }
  return digests;
}

/** @param endOf the end of each stage that `stage` depends on. */
export function summarizeBuild(plan: Plan, stage: PlannedStage, endOf: (stage: StageId) => StageEnd | undefined): BuildSummary {
  const summarize = (before: PlannedStage): SummarizedStage => {
    const { outcome, accepted } = getDefined(endOf(before.id), `end of ${before.id}`);
    const { kind } = outcome;
    invariant(accepted !== undefined && (kind === 'up-to-date' || kind === 'restored' || kind === 'executed'), `${before.id} has a result`);
    return {
      stage: before.id,
      group: before.group,
      plugin: before.plugin.name,
      determinism: before.determinism,
      reads: readsOf(before),
      key: accepted.key,
      outputs: Object.entries(accepted.outputs).map(([port, { digest, sizeBytes }]) => ({
        port,
        kind: getDefined(before.outputPorts[port], `port ${port}`).kind,
        digest,
        sizeBytes,
      })),
      gates: before.gate.map(gate => summarizeGate(before.id, gate, accepted)),
      outcome: kind,
      ...(outcome.kind === 'restored' && outcome.from !== undefined ? { from: outcome.from } : {}),
      durationMs: accepted.durationMs,
    };
  };
  const before = stagesBefore(plan, stage);
  const missing = listMissing(plan, stage, before, endOf);
  return { stages: before.map(summarize), reads: readsOf(stage), ...(missing.length === 0 ? {} : { missing }) };
}

/** What the stage reads in the plan and does not read here. @param before the stages before it, as it runs. */
function listMissing(
  plan: Plan,
  { id }: PlannedStage,
  before: readonly PlannedStage[],
  endOf: (stage: StageId) => StageEnd | undefined,
): readonly SummarizedMissing[] {
  const whole = plan.stages.get(id);
  const present = new Set(before.map(one => one.id));
  const missing = whole === undefined ? [] : stagesBefore(plan, whole).filter(one => !present.has(one.id));
  return missing.flatMap((one): readonly SummarizedMissing[] => {
    const { outcome } = endOf(one.id) ?? {};
    if (outcome?.kind === 'failed') return [{ stage: one.id, outcome: 'failed', reason: outcome.failure.message }];
    return outcome?.kind === 'skipped' ? [{ stage: one.id, outcome: 'skipped', reason: `${outcome.because} failed` }] : [];
  });
}

function summarizeGate(stage: StageId, gate: Gate, { metrics }: AcceptedStage): SummarizedGate {
  const { value, verdict, reasons } = checkGate(stage, gate, metrics);
  const { metric, operator, bound } = gate;
  return { metric, operator, bound, ...(value === undefined ? {} : { value }), verdict, ...(reasons === undefined ? {} : { reasons }) };
}

function readsOf({ inputs }: PlannedStage): readonly SummarizedInput[] {
  return Object.entries(inputs).flatMap(([port, binding]) =>
    binding.kind === 'record'
      ? Object.entries(binding.entries).map(([entry, ref]) => summarizeRef({ port, entry }, ref))
      : [summarizeRef({ port }, binding)],
  );
}

function summarizeRef(at: { readonly port: string; readonly entry?: string }, ref: InputRef): SummarizedInput {
  return ref.kind === 'source'
    ? { kind: 'source', ...at, source: ref.name }
    : { kind: 'artifact', ...at, stage: ref.stage, output: ref.port };
}
