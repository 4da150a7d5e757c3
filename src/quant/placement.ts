/** Where do Q and DQ go around each kind of node? One rule per operator, those of onnxruntime.quantization's QDQ quantizer. */
import { getFloat, getInt, getString } from '../onnx/ir/attribute.js';
import type { Node } from '../onnx/ir/model.js';
import { isCopyConv } from './copy-conv.js';
import { type Draft, findFloatConstant, isQuantized, tryRemove, wantActivation, wantBias, wantShared, wantWeight } from './draft.js';
import type { QuantizationScheme } from './scheme.js';
import { decodeFloats } from './weights.js';

/** Adds what `node` needs to the draft. Returns the reason where the node stays in float. */
export type PlacementRule = (node: Node, draft: Draft, scheme: QuantizationScheme) => string | undefined;

/** The rule for `opType`: every float input and output quantized by its own range, unless the operator has one of its own. */
export function placementOf(opType: string): PlacementRule {
  return RULES.get(opType) ?? eachByItself;
}

const INPUT_IN_FLOAT = 'its input is not quantized';

const eachByItself: PlacementRule = (node, draft) => {
  for (const id of [...node.inputs, ...node.outputs]) wantActivation(draft, id);
  return undefined;
};

/** Output elements are input elements: their parameters too, so that moving them loses nothing. */
const moveQuantized: PlacementRule = (node, draft) => {
  if (!isQuantized(draft, node.inputs[0])) return INPUT_IN_FLOAT;
  for (const output of node.outputs) wantShared(draft, output, node.inputs[0]);
  return undefined;
};

const move: PlacementRule = (node, draft, scheme) => {
  wantActivation(draft, node.inputs[0]);
  return moveQuantized(node, draft, scheme);
};

const conv: PlacementRule = (node, draft, scheme) => {
  if (isCopyConv(draft.graph, node)) return copyConv(node, draft, scheme);
  return weighted(node, draft, scheme.weight.perChannel ? 0 : undefined);
};

const copyConv: PlacementRule = (node, draft, scheme) => {
  wantWeight(draft, node.inputs[1], undefined);
  return move(node, draft, scheme);
};

const convTranspose: PlacementRule = (node, draft, scheme) => {
  // Weights are [in, out / groups, …]: with groups, a slice of axis 1 is one channel of every group.
  const perChannel = scheme.weight.perChannel && getInt(node, 'group', 1) === 1;
  return weighted(node, draft, perChannel ? 1 : undefined);
};

const gemm: PlacementRule = (node, draft, scheme) => {
  const outputAxis = getInt(node, 'transB', 0) !== 0 ? 0 : 1;
  return weighted(node, draft, scheme.weight.perChannel ? outputAxis : undefined);
};

function weighted(node: Node, draft: Draft, axis: number | undefined): undefined {
  wantActivation(draft, node.inputs[0]);
  wantActivation(draft, node.outputs[0]);
  wantWeight(draft, node.inputs[1], axis);
  wantBias(draft, node);
}

const matMul: PlacementRule = (node, draft, scheme) => {
  for (const input of node.inputs) {
    const rank = findFloatConstant(draft.graph, input)?.dims.length ?? 0;
    wantWeight(draft, input, scheme.weight.perChannel && rank > 1 ? rank - 1 : undefined);
  }
  wantActivation(draft, node.outputs[0]);
  return undefined;
};

/** Scale as a weight, bias as a bias; running mean and variance stay float. */
const normalization: PlacementRule = (node, draft) => {
  wantActivation(draft, node.inputs[0]);
  wantWeight(draft, node.inputs[1], undefined);
  wantBias(draft, node);
  wantActivation(draft, node.outputs[0]);
  return undefined;
};

/** Relu and Clip: left out where an asymmetric output range saturates at the same place. */
const activation: PlacementRule = (node, draft, scheme) => {
  if (!isQuantized(draft, node.inputs[0])) return INPUT_IN_FLOAT;
  const removed = !scheme.activation.symmetric && saturatesAlike(node, draft) && tryRemove(draft, node);
  if (!removed) wantActivation(draft, node.inputs[0]);
  wantActivation(draft, node.outputs[0]);
  return undefined;
};

/** A quantized range always contains 0: a Clip whose own does not is no saturation. */
function saturatesAlike(node: Node, draft: Draft): boolean {
  if (node.opType === 'Relu') return true;
  const low = findBound(node, draft, 1, 'min');
  const high = findBound(node, draft, 2, 'max');
  return low !== undefined && low <= 0 && high !== undefined && high >= 0;
}

/** A bound of Clip: an input from opset 11 on, an attribute before; undefined where it is computed. */
function findBound(node: Node, draft: Draft, index: number, name: 'min' | 'max'): number | undefined {
  const absent = getFloat(node, name, name === 'min' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY);
  const id = node.inputs[index];
  if (id === undefined) return absent;
  const bound = findFloatConstant(draft.graph, id);
  return bound === undefined ? undefined : decodeFloats(bound)[0];
}

/** Padding with zeros, or with elements of the input, needs no parameters of its own. */
const pad: PlacementRule = (node, draft, scheme) => {
  for (const input of node.inputs) wantActivation(draft, input);
  if (!padsWithKnown(node, draft)) {
    wantActivation(draft, node.outputs[0]);
    return undefined;
  }
  return moveQuantized(node, draft, scheme);
};

function padsWithKnown(node: Node, draft: Draft): boolean {
  if (getString(node, 'mode', 'constant') !== 'constant') return true;
  const id = node.inputs[2];
  if (id === undefined) return !node.attributes.has('value');
  const value = findFloatConstant(draft.graph, id);
  return value !== undefined && decodeFloats(value).every(x => x === 0);
}

/** A table of constants is quantized as a weight is; elements of an activation keep its parameters. */
const gather: PlacementRule = (node, draft) => {
  const [table] = node.inputs;
  if (findFloatConstant(draft.graph, table) !== undefined) {
    wantActivation(draft, table);
    for (const output of node.outputs) wantActivation(draft, output);
    return undefined;
  }
  if (!isQuantized(draft, table)) return INPUT_IN_FLOAT;
  for (const output of node.outputs) wantShared(draft, output, table);
  return undefined;
};

const where: PlacementRule = (node, draft) => {
  if (!isQuantized(draft, node.inputs[1]) || !isQuantized(draft, node.inputs[2])) return INPUT_IN_FLOAT;
  wantActivation(draft, node.outputs[0]);
  return undefined;
};

const RULES: ReadonlyMap<string, PlacementRule> = new Map<string, PlacementRule>([
  ['Conv', conv],
  ['ConvTranspose', convTranspose],
  ['Gemm', gemm],
  ['MatMul', matMul],
  ['BatchNormalization', normalization],
  ['InstanceNormalization', normalization],
  ['LayerNormalization', normalization],
  ['Relu', activation],
  ['Clip', activation],
  ['Pad', pad],
  ['Gather', gather],
  ['GatherElements', gather],
  ['Where', where],
  ['Resize', move],
  ['Split', move],
  ['MaxPool', moveQuantized],
  // An average stays within the range of what it averages.
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
