/** Prepares a model for grouping into units: constants become initializers, types are known, nodes are in order, and each DequantizeLinear has one reader. */
import { cloneModel } from '../../onnx/ir/clone.js';
import { addNode, addValue, getValue, indexUses } from '../../onnx/ir/edit.js';
import type { Model, Node, ValueId } from '../../onnx/ir/model.js';
import { makeNameScope, type NameScope } from '../../onnx/ir/name-scope.js';
import { sortTopologically } from '../../onnx/ir/sort.js';
import { constantsToInitializers, freeInitializers } from '../../onnx/passes/constants.js';
import type { Evaluate } from '../../onnx/passes/evaluate.js';
import { foldConstants } from '../../onnx/passes/fold-constants.js';
import { type Pass, passOfRule } from '../../onnx/passes/pass.js';
import { removeDead } from '../../onnx/passes/remove-dead.js';
import { findConstantValue } from '../../onnx/rewrite/graph-view.js';
import { removeCast, removeIdentity } from '../../onnx/rules/simplify/no-ops.js';
import { inferShapes, startInference, writeTypes } from '../../onnx/shape-inference/infer-shapes.js';

export const QUANTIZE = 'QuantizeLinear';
export const DEQUANTIZE = 'DequantizeLinear';

/** All exact. */
const PASSES: readonly Pass[] = [
  freeInitializers,
  constantsToInitializers,
  foldConstants,
  passOfRule(removeIdentity),
  passOfRule(removeCast),
  removeDead,
];

/** Limit for folding. Scales and zero points behind Identity or Cast are small, and larger constants do not affect placement. */
const FOLD_LIMIT_BYTES = 1 << 20;

/**
 * A copy of `model` that computes the same bits. Constants are initializers, and dead nodes and copies are removed.
 * A DequantizeLinear with several readers (or a reader and a model output) is duplicated for each, as ONNX Runtime does before it groups nodes. Duplicates are named after the original.
 * @throws OnnxError of shape inference, `graph-cycle`.
 */
export async function prepareModel(model: Model, evaluate: Evaluate): Promise<Model> {
  const copy = cloneModel(model);
  sortTopologically(copy.graph);
  const context = { evaluate, foldLimitBytes: FOLD_LIMIT_BYTES, check: () => [], infer: startInference };
  for (const pass of PASSES) await pass.run(copy, context);
  writeTypes(copy, inferShapes(copy));
  duplicatePerReader(copy, node => node.opType === DEQUANTIZE);
  // A weight may be a float constant with Q and DQ. Its Q is duplicated with its DQ.
  duplicatePerReader(copy, node => node.opType === QUANTIZE && findConstantValue(copy, node.inputs[0]) !== undefined);
  sortTopologically(copy.graph);
  return copy;
}

/** Duplicates the selected nodes for each reader. The model output, or else the first reader, keeps the original. */
function duplicatePerReader(model: Model, isSelected: (node: Node) => boolean): void {
  const { graph } = model;
  const names = makeNameScope(graph);
  const uses = indexUses(graph);
  for (const node of [...graph.nodes.values()]) {
    const [output] = node.outputs;
    if (output === undefined || node.outputs.length !== 1 || !isSelected(node)) continue;
    const readers = [...new Set((uses.get(output) ?? []).map(use => use.node))];
    for (const reader of readers.slice(graph.outputs.includes(output) ? 0 : 1)) {
      if (reader.inputs.includes(output)) copyFor(model, node, output, reader, names);
    }
  }
}

function copyFor(model: Model, node: Node, output: ValueId, reader: Node, names: NameScope): void {
  const { graph } = model;
  const { name, type } = getValue(graph, output);
  const copied = addValue(model, graph, names.take(`${name}_copy`), { type });
  addNode(model, graph, {
    opType: node.opType,
    name: node.name === '' ? '' : copied.name,
    domain: node.domain,
    inputs: node.inputs,
    attributes: node.attributes,
    outputs: [copied.id],
  });
  reader.inputs = reader.inputs.map(input => (input === output ? copied.id : input));
}
