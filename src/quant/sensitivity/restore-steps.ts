/** The quantized model with some steps back in float: weights, biases and the values that they compute. */
import { getDefined } from '../../base/invariant.js';
import { cloneModel } from '../../onnx/ir/clone.js';
import { replaceUses } from '../../onnx/ir/edit.js';
import type { Model, ValueId } from '../../onnx/ir/model.js';
import { sortTopologically } from '../../onnx/ir/sort.js';
import { removeDeadFrom } from '../../onnx/passes/remove-dead.js';
import { spliceGraph } from '../../onnx/surgery/splice.js';
import { graphOf, type Step, type SteppedModels } from './find-steps.js';

/** A new model; outputs keep their places, not their names. @param restored values of the float model. */
export function restoreSteps(models: SteppedModels, restored: ReadonlySet<ValueId>): Model {
  const model = cloneModel(models.quantized);
  const replacements = new Map<ValueId, ValueId>();
  for (const step of models.steps.values()) {
    if (!restored.has(step.value.id)) continue;
    const own = step.nodes.length === 0 ? getDefined(models.inputs.get(step.value.id), 'input') : copyStep(model, models, step);
    for (const form of step.forms) if (form !== own) replacements.set(form, own);
  }
  replaceUses(model.graph, replacements);
  sortTopologically(model.graph);
  removeDeadFrom(model.graph);
  return model;
}

/** A copy of the step that reads what the quantized model computes. @returns the value that it computes. */
function copyStep(model: Model, models: SteppedModels, step: Step): ValueId {
  const { graph, direct } = graphOf(models, step);
  const bound = new Map<ValueId, ValueId>();
  for (const id of step.reads) bound.set(id, getDefined(models.steps.get(id), 'step before').seen);
  for (const id of direct) bound.set(id, getDefined(models.inputs.get(id), 'input'));
  return getDefined(spliceGraph(model, graph, bound).ids.get(step.value.id), 'copy of a value');
}
