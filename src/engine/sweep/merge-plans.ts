/**
 * One plan of all configurations of a sweep.
 * Stages that are equal in several configurations, with everything before them, are one stage of it, so that they run once.
 */
import { digestJson } from '../../base/digest.js';
import type { Json } from '../../base/json.js';
import { refsOf } from '../model/dependencies.js';
import type { InputBinding, InputRef, Plan, PlannedStage, StageId } from '../model/plan.js';
import { sweepName } from './sweep-names.js';

export interface MergedPlans {
  readonly plan: Plan;
  /** Of each configuration: its stages, by their ids in the pipeline, with their ids in `plan`. */
  readonly stages: readonly ReadonlyMap<StageId, StageId>[];
  /** The stages, by their ids in the pipeline, that are not the same everywhere: in the configurations and in the pipeline as it stands. */
  readonly changed: ReadonlySet<StageId>;
}

/** @param base the pipeline as it stands. @param name that of the plan. Of a stage with several forms, `quantize~2` is the second one. */
export function mergePlans(base: Plan, plans: readonly Plan[], name = sweepName(base.pipeline)): MergedPlans {
  const forms = plans.map(formsOf);
  const known = new Map<StageId, string[]>();
  for (const one of forms) {
    for (const [id, form] of one) {
      const seen = known.get(id);
      if (seen === undefined) known.set(id, [form]);
      else if (!seen.includes(form)) seen.push(form);
    }
  }
  const nameOf = (id: StageId, form: string): StageId => {
    const seen = known.get(id) ?? [];
    return (seen.length < 2 ? id : `${id}~${seen.indexOf(form) + 1}`) as StageId;
  };
  const stages = forms.map(one => new Map([...one].map(([id, form]) => [id, nameOf(id, form)])));
  const merged = new Map<StageId, PlannedStage>();
  for (const [index, plan] of plans.entries()) {
    const ids = stages[index] ?? new Map<StageId, StageId>();
    for (const stage of plan.stages.values()) {
      const id = ids.get(stage.id) ?? stage.id;
      if (!merged.has(id)) merged.set(id, renamed(stage, id, ids));
    }
  }
  const plan: Plan = {
    ...base,
    pipeline: name,
    stages: merged,
    targets: new Map([...merged.keys()].map(id => [id, [id]])),
  };
  return { plan, stages, changed: changedIn([formsOf(base), ...forms]) };
}

/** A digest per stage of what it does: equal digests mean equal stages after equal stages. */
function formsOf(plan: Plan): ReadonlyMap<StageId, string> {
  const forms = new Map<StageId, string>();
  const encode = (ref: InputRef): Json =>
    ref.kind === 'source' ? { source: ref.path, name: ref.name } : { stage: forms.get(ref.stage) ?? ref.stage, port: ref.port };
  for (const stage of plan.stages.values()) {
    const { plugin, params, inputs, gate, resources, priority, timeoutMs, retries, env, secrets, network } = stage;
    const bound = Object.entries(inputs).map(([port, binding]): Json => [port, encodeBinding(binding, encode)]);
    const gates = gate.map(({ metric, operator, bound: limit }): Json => ({ metric, operator, bound: limit }));
    const rest = { resources, priority, timeoutMs: timeoutMs ?? null, retries, env, secrets, network };
    forms.set(stage.id, digestJson({ id: stage.id, plugin: plugin.name, params, inputs: bound, gates, ...rest }));
  }
  return forms;
}

function encodeBinding(binding: InputBinding, encode: (ref: InputRef) => Json): Json {
  if (binding.kind !== 'record') return encode(binding);
  return { entries: Object.entries(binding.entries).map(([name, ref]): Json => [name, encode(ref)]) };
}

function changedIn(forms: readonly ReadonlyMap<StageId, string>[]): ReadonlySet<StageId> {
  const ids = new Set(forms.flatMap(one => [...one.keys()]));
  return new Set([...ids].filter(id => new Set(forms.map(one => one.get(id))).size > 1));
}

function renamed(stage: PlannedStage, id: StageId, ids: ReadonlyMap<StageId, StageId>): PlannedStage {
  const rename = (ref: InputRef): InputRef => (ref.kind === 'source' ? ref : { ...ref, stage: ids.get(ref.stage) ?? ref.stage });
  const inputs = Object.entries(stage.inputs).map(([port, binding]): [string, InputBinding] => [
    port,
    binding.kind === 'record'
      ? { kind: 'record', entries: Object.fromEntries(Object.entries(binding.entries).map(([name, ref]) => [name, rename(ref)])) }
      : rename(binding),
  ]);
  return { ...stage, id, inputs: Object.fromEntries(inputs) };
}

/** Whether `stage` depends on one of `others`, directly or not, in the plan. */
export function dependsOn(plan: Plan, stage: StageId, others: ReadonlySet<StageId>): boolean {
  const open = [stage];
  const seen = new Set<StageId>(open);
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    for (const binding of Object.values(plan.stages.get(id)?.inputs ?? {})) {
      for (const ref of refsOf(binding)) {
        if (ref.kind !== 'artifact' || seen.has(ref.stage)) continue;
        if (others.has(ref.stage)) return true;
        seen.add(ref.stage);
        open.push(ref.stage);
      }
    }
  }
  return false;
}
