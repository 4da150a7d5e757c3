/** How large can the sums inside a quantized model's layers become? Bounds proved from the weights alone: they hold for every input. */
import { getFloat } from '../../onnx/ir/attribute.js';
import { getNode, getValue } from '../../onnx/ir/edit.js';
import type { Graph, Model, Node, NodeId, ValueId } from '../../onnx/ir/model.js';
import { decodeRawTensor } from '../../tensor/raw-tensor.js';
import { type Dequantized, findDequantized } from '../qdq/dequantized.js';
import { axisOf, channelsOf, sumWeights } from './weight-channels.js';

/** float32 adds integers exactly as long as no sum reaches this. */
export const FLOAT_EXACT_BELOW = 2 ** 24;

/**
 * The largest magnitude that any partial sum of the node can have, whatever its input and the order of adding, in units of `unit`.
 * The sum over the positive contributions alone, or over the negative ones, whichever is larger; zero points are taken off, the bias is in.
 */
export type AccumulatorBound = {
  /** The node's name, or its first output's where it has none. */
  readonly node: string;
  readonly opType: string;
  /** Largest over the output channels. Absent where something of it is not constant, or in float. */
  readonly bound?: number;
  /** Real value of one unit of the widest channel: input scale · weight scale, or finer where the bias is. */
  readonly unit?: number;
  /** Whether float32 arithmetic gives the exact sums: every scale a power of two, and the bound below 2²⁴. */
  readonly exactInFloat: boolean;
  /** Why there is no bound, or why float32 may round. */
  readonly reason?: string;
};

/** One entry for every Conv, ConvTranspose, Gemm, MatMul, Add, Sub and Mul of the main graph that computes on dequantized values, in graph order. */
export function boundAccumulators({ graph }: Model): readonly AccumulatorBound[] {
  return [...boundsByNode(graph).values()];
}

/** The same by node. */
export function boundsByNode(graph: Graph): ReadonlyMap<NodeId, AccumulatorBound> {
  return new Map(
    [...graph.nodes.values()].flatMap(node => {
      const sums = boundNode(graph, node);
      return sums === undefined ? [] : [[node.id, describe(graph, node, sums)] as const];
    }),
  );
}

type Sums =
  | { readonly kind: 'open'; readonly reason: string }
  | { readonly kind: 'bound'; readonly bound: number; readonly unit: number; readonly powerOfTwo: boolean };

const open = (reason: string): Sums => ({ kind: 'open', reason });

function boundNode(graph: Graph, node: Node): Sums | undefined {
  if (node.domain !== '') return undefined;
  const [a, b] = [node.inputs[0], node.inputs[1]].map(id => (id === undefined ? undefined : findDequantized(graph, id)));
  if (a === undefined && b === undefined) return undefined;
  switch (node.opType) {
    case 'Conv':
    case 'ConvTranspose':
    case 'Gemm':
    case 'MatMul':
      return a === undefined || b === undefined ? open('one of its inputs is not quantized') : boundProducts(graph, node, a, b);
    case 'Add':
    case 'Sub':
      return a === undefined || b === undefined ? open('one of its inputs is not quantized') : boundSum(a, b);
    case 'Mul':
      return a === undefined || b === undefined ? open('one of its inputs is not quantized') : boundProduct(a, b);
    default:
      return undefined;
  }
}

function boundSum(a: Dequantized, b: Dequantized): Sums {
  const [sa, sb] = [a.scales[0] ?? 0, b.scales[0] ?? 0];
  if (a.scales.length > 1 || b.scales.length > 1) return open('it adds values with several scales');
  const unit = Math.min(sa, sb);
  return { kind: 'bound', bound: (largest(a) * sa + largest(b) * sb) / unit, unit, powerOfTwo: isPowerOfTwo(sa) && isPowerOfTwo(sb) };
}

function boundProduct(a: Dequantized, b: Dequantized): Sums {
  if (a.scales.length > 1 || b.scales.length > 1) return open('it multiplies values with several scales');
  const unit = (a.scales[0] ?? 0) * (b.scales[0] ?? 0);
  return { kind: 'bound', bound: largest(a) * largest(b), unit, powerOfTwo: isPowerOfTwo(unit) };
}

/** Sums of products over the inner axis, per output channel. */
function boundProducts(graph: Graph, node: Node, input: Dequantized, weight: Dequantized): Sums {
  if (node.opType === 'Gemm' && !isPlainGemm(node)) return open('alpha or beta is not 1');
  if (input.scales.length > 1) return open('its input has several scales');
  const { constant } = weight;
  const channels = constant === undefined ? undefined : channelsOf(node, constant.dims);
  if (constant === undefined || channels === undefined) return boundUnknownWeight(graph, node, input, weight);
  if (weight.scales.length > 1 && axisOf(weight, constant) !== channels.axis)
    return open('its weight has scales along another axis than its outputs');
  const [positive, negative] = sumWeights(weight, constant, channels);
  // What an element of the input adds to a weight of 1 upwards, and downwards, at most.
  const above = Math.max(input.high - input.zeroPoints[0], 0);
  const below = Math.max(input.zeroPoints[0] - input.low, 0);
  return widest({ graph, node, input, weight, channels: channels.count }, channel => {
    const [p, n] = [positive[channel] as number, negative[channel] as number];
    return [p * above + n * below, p * below + n * above];
  });
}

interface Layer {
  readonly graph: Graph;
  readonly node: Node;
  readonly input: Dequantized;
  readonly weight: Dequantized;
  readonly channels: number;
}

/** The channel with the largest bound, its bias included. */
function widest({ graph, node, input, weight, channels }: Layer, sumsOf: (channel: number) => readonly [number, number]): Sums {
  const biasId = node.inputs[2];
  const bias = biasId === undefined ? undefined : findDequantized(graph, biasId);
  const biases = bias?.constant === undefined ? undefined : (decodeRawTensor(bias.constant).data as ArrayLike<number>);
  if (biasId !== undefined && (bias === undefined || biases === undefined)) return open('its bias is not quantized');
  if (biases !== undefined && biases.length !== channels && biases.length !== 1) return open('its bias is not one number per output');
  const scale = input.scales[0] ?? 0;
  let worst = { bound: -1, unit: 0 };
  let powerOfTwo = true;
  for (let channel = 0; channel < channels; channel++) {
    const product = scale * pick(weight.scales, channel);
    const biasScale = bias === undefined ? product : pick(bias.scales, channel);
    const unit = Math.min(product, biasScale);
    const [up, down] = sumsOf(channel);
    const added =
      bias === undefined || biases === undefined ? 0 : ((pick(biases, channel) - pick(bias.zeroPoints, channel)) * biasScale) / unit;
    const bound = Math.max((up * product) / unit + Math.max(added, 0), (down * product) / unit - Math.min(added, 0));
    if (bound > worst.bound) worst = { bound, unit };
    powerOfTwo &&= isPowerOfTwo(product) && isPowerOfTwo(biasScale);
  }
  return { kind: 'bound', ...worst, powerOfTwo };
}

/** Groups, and stacked matrices, share what their channels have. */
function pick(values: ArrayLike<number>, channel: number): number {
  return values[channel % values.length] ?? 0;
}

/** Both sides are activations: as many products as the inner axis is long, each as large as can be. */
function boundUnknownWeight(graph: Graph, node: Node, input: Dequantized, weight: Dequantized): Sums {
  const inner = node.opType === 'MatMul' ? input.dims?.at(-1) : undefined;
  if (typeof inner !== 'number' || weight.scales.length > 1) return open('its weight is no constant of integers');
  const sums = inner * largest(input) * largest(weight);
  return widest({ graph, node, input, weight, channels: 1 }, () => [sums, sums]);
}

function isPlainGemm(node: Node): boolean {
  return getFloat(node, 'alpha', 1) === 1 && getFloat(node, 'beta', 1) === 1;
}

/** Largest magnitude of an element in units of its scale. */
function largest({ low, high, zeroPoints }: Dequantized): number {
  return Math.max(...zeroPoints.map(zeroPoint => Math.max(high - zeroPoint, zeroPoint - low)));
}

function isPowerOfTwo(x: number): boolean {
  return x > 0 && Number.isInteger(Math.log2(x)) && 2 ** Math.log2(x) === x;
}

function describe(graph: Graph, { id }: Node, sums: Sums): AccumulatorBound {
  const { name, opType, outputs } = getNode(graph, id);
  const [output] = outputs as readonly (ValueId | undefined)[];
  const who = { node: name !== '' || output === undefined ? name : getValue(graph, output).name, opType };
  if (sums.kind === 'open') return { ...who, exactInFloat: false, reason: sums.reason };
  const { bound, unit, powerOfTwo } = sums;
  if (!powerOfTwo) return { ...who, bound, unit, exactInFloat: false, reason: 'a scale is not a power of two' };
  if (bound < FLOAT_EXACT_BELOW) return { ...who, bound, unit, exactInFloat: true };
  return { ...who, bound, unit, exactInFloat: false, reason: 'sums can reach 2²⁴' };
}
