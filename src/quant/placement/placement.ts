/** Where do Q and DQ go around each kind of node? One rule per operator, those of onnxruntime.quantization's QDQ quantizer. */
import { getFloat, getInt, getString } from '../../onnx/ir/attribute.js';
import type { Node } from '../../onnx/ir/model.js';
import type { Range } from '../integers/qparams.js';
import { decodeFloats } from '../weights/weights.js';
import { isCopyConv } from './copy-conv.js';
import {
  type Draft,
  findFloatConstant,
  isQuantized,
  tryFuse,
  tryRemove,
  wantActivation,
  wantBias,
  wantShared,
  wantWeight,
} from './draft.js';

/** Adds what `node` needs to the draft. Returns the reason where the node stays in float. */
export type PlacementRule = (node: Node, draft: Draft) => string | undefined;

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
  if (draft.scheme.placement.dataMovement === 'force') wantActivation(draft, node.inputs[0]);
  if (!isQuantized(draft, node.inputs[0])) return INPUT_IN_FLOAT;
  for (const output of node.outputs) wantShared(draft, output, node.inputs[0]);
  return undefined;
};

const move: PlacementRule = (node, draft) => {
  wantActivation(draft, node.inputs[0]);
  return moveQuantized(node, draft);
};

const conv: PlacementRule = (node, draft) => (isCopyConv(draft.graph, node) ? copyConv(node, draft) : weighted(node, draft, 0));

const copyConv: PlacementRule = (node, draft) => {
  wantWeight(draft, node.inputs[1], undefined);
  return move(node, draft);
};

// Weights are [in, out / groups, …]: with groups, a slice of axis 1 is one channel of every group.
const convTranspose: PlacementRule = (node, draft) => weighted(node, draft, getInt(node, 'group', 1) === 1 ? 1 : undefined);

const gemm: PlacementRule = (node, draft) => weighted(node, draft, getInt(node, 'transB', 0) !== 0 ? 0 : 1);

/** @param axis of the weight's output channels. */
function weighted(node: Node, draft: Draft, axis: number | undefined): undefined {
  wantActivation(draft, node.inputs[0]);
  wantActivation(draft, node.outputs[0]);
  wantWeight(draft, node.inputs[1], axis);
  wantBias(draft, node);
}

const matMul: PlacementRule = (node, draft) => {
  for (const input of node.inputs) {
    const rank = findFloatConstant(draft.graph, input)?.dims.length ?? 0;
    wantWeight(draft, input, rank > 1 ? rank - 1 : undefined);
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

/** Relu and Clip: left out where the output's range saturates at the same place, or computed with the operator before them. */
const saturating: PlacementRule = (node, draft) => {
  if (!isQuantized(draft, node.inputs[0])) return INPUT_IN_FLOAT;
  const bounds = boundsOf(node, draft);
  const { dropSaturating, fuseActivations } = draft.scheme.placement;
  const joined =
    (dropSaturating && bounds !== undefined && tryRemove(draft, node, bounds)) ||
    (fuseActivations && bounds !== undefined && tryFuse(draft, node));
  if (!joined) wantActivation(draft, node.inputs[0]);
  wantActivation(draft, node.outputs[0]);
  return undefined;
};

/** LeakyRelu and PRelu saturate nowhere. */
const leaky: PlacementRule = (node, draft) => {
  const joined = draft.scheme.placement.fuseActivations && isQuantized(draft, node.inputs[0]) && tryFuse(draft, node);
  return joined ? eachByItself({ ...node, inputs: node.inputs.with(0, undefined) }, draft) : eachByItself(node, draft);
};

/** What a Relu or Clip lets through; undefined where it is not known, or where 0 is outside: a quantized range always contains 0. */
function boundsOf(node: Node, draft: Draft): Range | undefined {
  if (node.opType === 'Relu') return { low: 0, high: Number.POSITIVE_INFINITY };
  const low = findBound(node, draft, 1, 'min');
  const high = findBound(node, draft, 2, 'max');
  return low !== undefined && low <= 0 && high !== undefined && high >= 0 ? { low, high } : undefined;
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
const pad: PlacementRule = (node, draft) => {
  for (const input of node.inputs) wantActivation(draft, input);
  if (!padsWithKnown(node, draft)) {
    wantActivation(draft, node.outputs[0]);
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
  ['Relu', saturating],
  ['Clip', saturating],
  ['LeakyRelu', leaky],
  ['PRelu', leaky],
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
