/** The models of a stage that uses `compile`, and the stage before it that can take rules for one of them. */
import type { InputRef, Plan, PlannedStage, StageId } from '../../engine/model/plan.js';
import { RequestError } from '../http/read-body.js';

export interface CompiledInput {
  readonly stage: PlannedStage;
  readonly ref: InputRef;
  /** "model" or "models.NAME". */
  readonly input: string;
}

/** Where rules for a model go. */
export type RewritePlace =
  | { readonly kind: 'stage'; readonly stage: string }
  /** No stage rewrites the model: one can be added before it is compiled. */
  | { readonly kind: 'new' }
  /** Several stages rewrite it. */
  | { readonly kind: 'none'; readonly reason: string };

/** A model of a stage that uses `compile`, by its name in the report. @throws RequestError `ui-bad-request`. */
export function getCompiledModel(plan: Plan, id: string, model: string): CompiledInput {
  const stage = plan.stages.get(id as StageId);
  if (stage === undefined || stage.plugin.name !== 'compile') throw bad(`"${id.slice(0, 80)}" is no stage that uses "compile"`);
  const { model: only, models } = stage.inputs;
  if (only !== undefined && only.kind !== 'record') {
    if (model === 'model') return { stage, ref: only, input: 'model' };
  } else if (models?.kind === 'record' && Object.hasOwn(models.entries, model)) {
    const ref = models.entries[model];
    if (ref !== undefined) return { stage, ref, input: `models.${model}` };
  }
  throw bad(`${id} compiles no model "${model.slice(0, 80)}"`);
}

/** The nearest stage that uses `rewrite` among those that make the model. */
export function findRewrite(plan: Plan, ref: InputRef): RewritePlace {
  const seen = new Set<string>();
  let open: readonly InputRef[] = [ref];
  while (open.length > 0) {
    const stages = open.flatMap(one => makerOf(plan, one, seen));
    const rewrites = [...new Set(stages.filter(({ stage }) => stage.plugin.name === 'rewrite').map(({ stage }) => stage.id))];
    const [only, ...others] = rewrites;
    if (others.length > 0) return { kind: 'none', reason: `several stages rewrite what becomes this model: ${rewrites.join(', ')}` };
    if (only !== undefined) return { kind: 'stage', stage: only };
    open = stages.flatMap(({ stage, port }) => listModelInputs(stage, port));
  }
  return { kind: 'new' };
}

function makerOf(plan: Plan, ref: InputRef, seen: Set<string>): readonly { readonly stage: PlannedStage; readonly port: string }[] {
  if (ref.kind === 'source') return [];
  const key = `${ref.stage}.${ref.port}`;
  const stage = plan.stages.get(ref.stage);
  if (seen.has(key) || stage === undefined) return [];
  seen.add(key);
  return [{ stage, port: ref.port }];
}

/** The models that the output is made from: with several, those that it is named after ("box_head_tiles" is made from "box_head"). */
function listModelInputs({ inputs, inputPorts }: PlannedStage, port: string): readonly InputRef[] {
  return Object.entries(inputs).flatMap(([name, binding]): readonly InputRef[] => {
    if (binding.kind !== 'record') return inputPorts[name]?.kind === 'onnx-model' ? [binding] : [];
    if (name !== 'models' && name !== 'parts') return [];
    const entries = Object.entries(binding.entries);
    const own = entries.filter(([entry]) => port === entry || port.startsWith(`${entry}_`));
    return (own.length > 0 ? own : entries).map(([, ref]) => ref);
  });
}

function bad(message: string): RequestError {
  return new RequestError(400, 'ui-bad-request', message);
}
