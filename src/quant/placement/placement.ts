/** The placement of Q and DQ around each operator type, as onnxruntime.quantization's QDQ quantizer defines it. */
import { getFloat, getString } from '../../onnx/ir/attribute.js';
import type { Node } from '../../onnx/ir/model.js';
import type { Range } from '../integers/qparams.js';
import { decodeFloats } from '../weights/weights.js';
import { isCopyConv } from './copy-conv.js';
import { addActivation, addBias, addShared, addWeight, type Draft, findFloatConstant, isQuantized, tryFuse, tryRemove } from './draft.js';
import { CHOOSING, listWeights } from './weight-reads.js';

/** Adds the tensors of `node` to the draft. Returns a reason if the node stays in float. */
export type PlacementRule = (node: Node, draft: Draft) => string | undefined;

/** The rule for `opType`. By default, every float input and output gets a range of its own. */
export function placementOf(opType: string): PlacementRule {
  return RULES.get(opType) ?? eachByItself;
}

const INPUT_IN_FLOAT = 'its input is not quantized';

const eachByItself: PlacementRule = (node, draft) => {
  for (const id of [...node.inputs, ...node.outputs]) addActivation(draft, id);
  return undefined;
};

/** Output elements are copies of input elements, so they take the input's parameters and nothing is lost. */
const moveQuantized: PlacementRule = (node, draft) => {
  if (draft.scheme.placement.dataMovement === 'force') addActivation(draft, node.inputs[0]);
  if (!isQuantized(draft, node.inputs[0])) return INPUT_IN_FLOAT;
  for (const output of node.outputs) addShared(draft, output, node.inputs[0]);
  return undefined;
};

const move: PlacementRule = (node, draft) => {
  addActivation(draft, node.inputs[0]);
  return moveQuantized(node, draft);
};

const conv: PlacementRule = (node, draft) => (isCopyConv(draft.graph, node) ? copyConv(node, draft) : weighted(node, draft));

const copyConv: PlacementRule = (node, draft) => {
  addWeights(draft, node);
  return move(node, draft);
};

const weighted: PlacementRule = (node, draft) => {
  addActivation(draft, node.inputs[0]);
  addActivation(draft, node.outputs[0]);
  addWeights(draft, node);
  addBias(draft, node);
  return undefined;
};

function addWeights(draft: Draft, node: Node): void {
  for (const { value, axis } of listWeights(draft.graph, node)) addWeight(draft, value, axis);
}

const matMul: PlacementRule = (node, draft) => {
  addWeights(draft, node);
  addActivation(draft, node.outputs[0]);
  return undefined;
};

/** The scale is a weight and the bias a bias; running mean and variance stay float. */
const normalization: PlacementRule = (node, draft) => {
  addActivation(draft, node.inputs[0]);
  addWeights(draft, node);
  addBias(draft, node);
  addActivation(draft, node.outputs[0]);
  return undefined;
};

/** Relu and Clip: removed if the output range saturates at the same place, or fused with the operator before them. */
const saturating: PlacementRule = (node, draft) => {
  if (!isQuantized(draft, node.inputs[0])) return INPUT_IN_FLOAT;
  const bounds = boundsOf(node, draft);
  const { dropSaturating, fuseActivations } = draft.scheme.placement;
  const joined =
    (dropSaturating && bounds !== undefined && tryRemove(draft, node, bounds)) ||
    (fuseActivations && bounds !== undefined && tryFuse(draft, node));
  if (!joined) addActivation(draft, node.inputs[0]);
  addActivation(draft, node.outputs[0]);
  return undefined;
};

/** LeakyRelu and PRelu, which do not saturate. */
const leaky: PlacementRule = (node, draft) => {
  const joined = draft.scheme.placement.fuseActivations && isQuantized(draft, node.inputs[0]) && tryFuse(draft, node);
  return joined ? eachByItself({ ...node, inputs: node.inputs.with(0, undefined) }, draft) : eachByItself(node, draft);
};

/** The output bounds of a Relu or Clip; undefined if they are not constant, or exclude 0: a quantized range always contains 0. */
function boundsOf(node: Node, draft: Draft): Range | undefined {
  if (node.opType === 'Relu') return { low: 0, high: Number.POSITIVE_INFINITY };
  const low = findBound(node, draft, 1, 'min');
  const high = findBound(node, draft, 2, 'max');
  return low !== undefined && low <= 0 && high !== undefined && high >= 0 ? { low, high } : undefined;
}

/** A bound of Clip: an input since opset 11, an attribute before; undefined if it is computed. */
function findBound(node: Node, draft: Draft, index: number, name: 'min' | 'max'): number | undefined {
  const absent = getFloat(node, name, name === 'min' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY);
  const id = node.inputs[index];
  if (id === undefined) return absent;
  const bound = findFloatConstant(draft.graph, id);
  return bound === undefined ? undefined : decodeFloats(bound)[0];
}

/** Padding with zeros or with input elements needs no parameters of its own. */
const pad: PlacementRule = (node, draft) => {
  for (const input of node.inputs) addActivation(draft, input);
  if (!padsWithKnown(node, draft)) {
    addActivation(draft, node.outputs[0]);
    return undefined;
  }
  return moveQuantized(node, draft);
};

function padsWithKnown(node: Node, draft: Draft): boolean {
  if (getString(node, 'mode', 'constant') !== 'constant') return true;
  const id = node.inputs[2];
  if (id === undefined) return !node.attributes.has('value');
  const value = findFloatConstant(draft.graph, id);
  return value !== undefined && decodeFloats(value).every(x => x === 0);
}

/**
 * Elements are chosen from a constant table or an activation, and keep its parameters.
 * A table that any node reads as a weight is one (see `tied`), with no parameters of an activation: the elements get a range of their own.
 */
const gather: PlacementRule = (node, draft) => {
  const [table] = node.inputs;
  if (findFloatConstant(draft.graph, table) !== undefined) addActivation(draft, table);
  else if (!isQuantized(draft, table)) return INPUT_IN_FLOAT;
  for (const output of node.outputs) {
    addShared(draft, output, table);
    if (!isQuantized(draft, output)) addActivation(draft, output);
  }
  return undefined;
};

const where: PlacementRule = (node, draft) => {
  if (!isQuantized(draft, node.inputs[1]) || !isQuantized(draft, node.inputs[2])) return INPUT_IN_FLOAT;
  addActivation(draft, node.outputs[0]);
  return undefined;
};

const RULES: ReadonlyMap<string, PlacementRule> = new Map<string, PlacementRule>([
  ['Conv', conv],
  ['ConvTranspose', weighted],
  ['Gemm', weighted],
  ['MatMul', matMul],
  ['BatchNormalization', normalization],
  ['InstanceNormalization', normalization],
  ['LayerNormalization', normalization],
  ['Relu', saturating],
  ['Clip', saturating],
  ['LeakyRelu', leaky],
  ['PRelu', leaky],
  ['Pad', pad],
  ...CHOOSING.map((opType): readonly [string, PlacementRule] => [opType, gather]),
  ['Where', where],
  ['Resize', move],
  ['Split', move],
  ['MaxPool', moveQuantized],
  // An average lies within the range of its inputs.
  ['AveragePool', moveQuantized],
  ['Reshape', moveQuantized],
  ['Transpose', moveQuantized],
  ['Squeeze', moveQuantized],
  ['Unsqueeze', moveQuantized],
  ['Flatten', moveQuantized],
  ['Slice', moveQuantized],
  ['DepthToSpace', moveQuantized],
  ['SpaceToDepth', moveQuantized],
  ['Identity', moveQuantized],
]);
