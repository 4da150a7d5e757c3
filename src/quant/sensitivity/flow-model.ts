/** One model of both networks, and of every float step on quantized inputs, so that each step's values come close together. */
import { getDefined } from '../../base/invariant.js';
import { cloneModel } from '../../onnx/ir/clone.js';
import { getValue, replaceNodeOrder } from '../../onnx/ir/edit.js';
import type { Model, Node, ValueId } from '../../onnx/ir/model.js';
import { sortTopologically } from '../../onnx/ir/sort.js';
import { spliceGraph } from '../../onnx/surgery/splice.js';
import { graphOf, type Step, type SteppedModels } from './find-steps.js';

/** The values of one step in the common model. */
export interface Probe {
  readonly step: Step;
  readonly float: ValueId;
  readonly quantized: ValueId;
  /** The float step on the first inputs from the quantized network, the others from float: one input more each; the last reads the quantized network alone. */
  readonly partial: readonly ValueId[];
}

export interface FlowModel {
  readonly model: Model;
  /** Of every step that computes float32. */
  readonly probes: readonly Probe[];
}

export function makeFlowModel(models: SteppedModels): FlowModel {
  const model = cloneModel(models.quantized);
  const { ids } = spliceGraph(model, { ...models.float.graph, unknown: [] }, models.inputs);
  const probes = [...models.steps.values()].flatMap((step): Probe[] => {
    const { type } = step.value;
    if (type?.kind !== 'tensor' || type.dtype !== 'float32') return [];
    const partial = step.reads.map((_, last) => copyStep(model, models, step, { quantized: last + 1, floatIds: ids }));
    return [{ step, float: getDefined(ids.get(step.value.id), 'float value'), quantized: step.seen, partial }];
  });
  orderByProbes(model, probes);
  return { model, probes };
}

/** Each probe's values are computed before those that only later probes need. */
function orderByProbes({ graph }: Model, probes: readonly Probe[]): void {
  const ends = new Set<Node>();
  for (const id of probes.flatMap(({ float, quantized, partial }) => [float, quantized, ...partial])) {
    const { producer } = getValue(graph, id);
    const node = producer === undefined ? undefined : graph.nodes.get(producer);
    if (node !== undefined) ends.add(node);
  }
  replaceNodeOrder(graph, [...ends, ...[...graph.nodes.values()].filter(node => !ends.has(node))]);
  sortTopologically(graph);
}

interface Inputs {
  /** How many of the values that the step reads come from the quantized network. */
  readonly quantized: number;
  readonly floatIds: ReadonlyMap<ValueId, ValueId>;
}

function copyStep(model: Model, models: SteppedModels, step: Step, { quantized, floatIds }: Inputs): ValueId {
  const { graph, direct } = graphOf(models, step);
  const bound = new Map<ValueId, ValueId>();
  for (const [index, id] of step.reads.entries()) {
    const own = index < quantized ? models.steps.get(id)?.seen : floatIds.get(id);
    bound.set(id, getDefined(own, 'value that a step reads'));
  }
  for (const id of direct) bound.set(id, getDefined(models.inputs.get(id), 'input'));
  for (const [id, value] of graph.values) if (value.constant !== undefined) bound.set(id, getDefined(floatIds.get(id), 'constant'));
  return getDefined(spliceGraph(model, graph, bound).ids.get(step.value.id), 'copy of a value');
}
