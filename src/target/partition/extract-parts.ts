/** Extracts parts as models: their nodes, with values from outside as inputs and values used outside as outputs. */

import { getValue } from '../../onnx/ir/edit.js';
import type { Model, NodeId, ValueId } from '../../onnx/ir/model.js';
import { valuesReadBy } from '../../onnx/ir/reads.js';
import { findConstantValue } from '../../onnx/rewrite/graph-view.js';
import { extractSubgraph } from '../../onnx/surgery/extract.js';
import type { UnitGraph } from '../units/node-units.js';
import type { PlannedPart } from './partition.js';

export interface PartEnds {
  readonly inputs: readonly ValueId[];
  readonly outputs: readonly ValueId[];
}

/** The inputs and outputs of each part. Constants that are model outputs belong to the first part. */
export function findPartEnds(graph: UnitGraph, parts: readonly PlannedPart[]): readonly PartEnds[] {
  const { model } = graph;
  const partOf = new Map<NodeId, number>();
  for (const [index, part] of parts.entries()) {
    for (const unit of part.units) for (const node of graph.units[unit]?.nodes ?? []) partOf.set(node.id, index);
  }
  const inputs = parts.map(() => new Set<ValueId>());
  const outputs = parts.map(() => new Set<ValueId>());
  for (const node of model.graph.nodes.values()) {
    const part = partOf.get(node.id) ?? 0;
    for (const id of valuesReadBy(node)) {
      if (findConstantValue(model, id) !== undefined) continue;
      const { producer } = getValue(model.graph, id);
      const from = producer === undefined ? undefined : partOf.get(producer);
      if (from === part) continue;
      inputs[part]?.add(id);
      if (from !== undefined) outputs[from]?.add(id);
    }
  }
  for (const id of model.graph.outputs) {
    const { producer } = getValue(model.graph, id);
    if (producer !== undefined) outputs[partOf.get(producer) ?? 0]?.add(id);
    else if (findConstantValue(model, id) !== undefined) outputs[0]?.add(id);
  }
  return parts.map((_, index) => ({ inputs: [...(inputs[index] ?? [])], outputs: [...(outputs[index] ?? [])] }));
}

/** The part as a model. Value and node names stay, so that parts connect by name. */
export function extractPart(model: Model, { inputs, outputs }: PartEnds): Model {
  const nameOf = (id: ValueId): string => getValue(model.graph, id).name;
  return extractSubgraph(model, { inputs: inputs.map(nameOf), outputs: outputs.map(nameOf) });
}
