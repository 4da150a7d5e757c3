/** The details of one stage: params with their origin, inputs with digests, why it would run, outputs, and its history. */

import { isJsonObject, type Json, type JsonObject } from '../../base/json.js';
import type { RunRecord } from '../../engine/insight/history/run-record.js';
import type { InputRef, Plan, PlannedStage } from '../../engine/model/plan.js';
import { readRecord } from '../../engine/store/action-records.js';
import type { InputView, StageRunView, StageView } from '../../report/views/stage-data.js';
import type { ProjectState } from '../project/live-project.js';
import { originsOf } from './param-origins.js';
import { outputsOf, reasonsOf } from './pipeline-view.js';

const MOST_RUNS = 50;

/** @param text the pipeline file's text, for the origin of params. */
export function viewStage(
  plan: Plan,
  stage: PlannedStage,
  state: ProjectState,
  file: { readonly name: string; readonly text: string },
): StageView {
  const explanation = state.explained.get(stage.id);
  const result = state.results.get(stage.id);
  const record = result === undefined ? undefined : readRecord(state.cache, result.key);
  const manifest = record === undefined || record === 'damaged' ? undefined : record.manifest;
  const origins = originsOf(stage, file);
  return {
    version: state.version,
    id: stage.id,
    group: stage.group,
    plugin: stage.plugin.name,
    description: stage.plugin.plugin.description,
    file: stage.span.file,
    line: stage.span.line,
    state: explanation?.status.kind ?? 'undecided',
    why: explanation === undefined ? [] : reasonsOf(explanation),
    determinism: stage.determinism,
    params: leavesOf(stage.params).map(([name, value]) => ({ name, value, origin: origins(name) })),
    inputs: inputsOf(stage, manifest),
    outputs: outputsOf(plan, stage, result),
    ...(result?.metrics === undefined ? {} : { metrics: result.metrics }),
    ...(result === undefined ? {} : { key: result.key }),
    history: historyOf(stage.id, state.runs),
  };
}

/** The params by dotted path; empty objects and lists are values. */
function leavesOf(value: JsonObject, prefix = ''): readonly (readonly [string, Json])[] {
  return Object.entries(value).flatMap(([name, member]): readonly (readonly [string, Json])[] =>
    isJsonObject(member) && Object.keys(member).length > 0 ? leavesOf(member, `${prefix}${name}.`) : [[prefix + name, member]],
  );
}

function inputsOf({ inputs }: PlannedStage, manifest: JsonObject | undefined): readonly InputView[] {
  const pinned = manifest?.inputs;
  return Object.entries(inputs).flatMap(([port, binding]) => {
    const known = isJsonObject(pinned) ? pinned[port] : undefined;
    if (binding.kind !== 'record') return [viewInput(port, binding, known)];
    return Object.entries(binding.entries).map(([entry, ref]) =>
      viewInput(`${port}.${entry}`, ref, isJsonObject(known) ? known[entry] : undefined),
    );
  });
}

function viewInput(name: string, ref: InputRef, pinned: Json | undefined): InputView {
  const from: InputView['from'] =
    ref.kind === 'source' ? { kind: 'source', path: ref.path } : { kind: 'artifact', stage: ref.stage, port: ref.port };
  if (!isJsonObject(pinned) || typeof pinned.digest !== 'string') return { name, from };
  return { name, from, digest: pinned.digest, tree: pinned.kind === 'tree' };
}

function historyOf(stage: string, runs: readonly RunRecord[]): readonly StageRunView[] {
  const rows: StageRunView[] = [];
  for (const { run, started, stages } of [...runs].reverse()) {
    const own = stages.find(one => one.stage === stage);
    if (own === undefined || own.outcome === 'up-to-date') continue;
    const { outcome, reasons = [], durationMs, peakBytes, metrics = {}, failure } = own;
    rows.push({
      run,
      started,
      outcome,
      reasons,
      ...(durationMs === undefined ? {} : { durationMs }),
      ...(peakBytes === undefined ? {} : { peakBytes }),
      metrics,
      ...(failure === undefined ? {} : { failure: failure.message }),
    });
    if (rows.length === MOST_RUNS) break;
  }
  return rows;
}
