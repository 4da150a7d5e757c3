/** Bounds on the accumulator sums of quantized layers, derived from the weights, so that they hold for every input. */
import { getFloat } from '../../onnx/ir/attribute.js';
import { getNode, getValue } from '../../onnx/ir/edit.js';
import type { Graph, Model, Node, NodeId, ValueId } from '../../onnx/ir/model.js';
import { decodeRawTensor } from '../../tensor/raw-tensor.js';
import { type Dequantized, findDequantized } from '../qdq/dequantized.js';
import type { AccumulatorBound } from './accumulator-schema.js';
import { axisOf, channelsOf, sumWeights } from './weight-channels.js';

/** float32 adds integers exactly while no sum reaches this limit. */
export const FLOAT_EXACT_BELOW = 2 ** 24;

/** One entry per Conv, ConvTranspose, Gemm, MatMul, Add, Sub and Mul of the main graph that computes on dequantized values, in graph order. */
export function boundAccumulators({ graph }: Model): readonly AccumulatorBound[] {
  return [...boundsByNode(graph).values()];
}

/** The same bounds by node. */
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
      return a === undefined || b === undefined ? open('an input is not quantized') : boundProducts(graph, node, a, b);
    case 'Add':
    case 'Sub':
      return a === undefined || b === undefined ? open('an input is not quantized') : boundSum(a, b);
    case 'Mul':
      return a === undefined || b === undefined ? open('an input is not quantized') : boundProduct(a, b);
    default:
      return undefined;
  }
}

function boundSum(a: Dequantized, b: Dequantized): Sums {
  const [sa, sb] = [a.scales[0] ?? 0, b.scales[0] ?? 0];
  if (a.scales.length > 1 || b.scales.length > 1) return open('an operand has more than one scale');
  const unit = Math.min(sa, sb);
  return { kind: 'bound', bound: (largest(a) * sa + largest(b) * sb) / unit, unit, powerOfTwo: isPowerOfTwo(sa) && isPowerOfTwo(sb) };
}

function boundProduct(a: Dequantized, b: Dequantized): Sums {
  if (a.scales.length > 1 || b.scales.length > 1) return open('an operand has more than one scale');
  const unit = (a.scales[0] ?? 0) * (b.scales[0] ?? 0);
  return { kind: 'bound', bound: largest(a) * largest(b), unit, powerOfTwo: isPowerOfTwo(unit) };
}

/** Sums of products along the inner axis, per output channel. */
function boundProducts(graph: Graph, node: Node, input: Dequantized, weight: Dequantized): Sums {
  if (node.opType === 'Gemm' && !isPlainGemm(node)) return open('alpha or beta is not 1');
  if (input.scales.length > 1) return open('the input has more than one scale');
  const { constant } = weight;
  const channels = constant === undefined ? undefined : channelsOf(node, constant.dims);
  if (constant === undefined || channels === undefined) return boundUnknownWeight(graph, node, input, weight);
  if (weight.scales.length > 1 && axisOf(weight, constant) !== channels.axis)
    return open('the weight scales are not along the output channel axis');
  const [positive, negative] = sumWeights(weight, constant, channels);
  // The most that one input element can add to, or subtract from, a sum per weight of 1.
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

/** The channel with the largest bound, including its bias. */
function widest({ graph, node, input, weight, channels }: Layer, sumsOf: (channel: number) => readonly [number, number]): Sums {
  const biasId = node.inputs[2];
  const bias = biasId === undefined ? undefined : findDequantized(graph, biasId);
  const biases = bias?.constant === undefined ? undefined : (decodeRawTensor(bias.constant).data as ArrayLike<number>);
  if (biasId !== undefined && (bias === undefined || biases === undefined)) return open('the bias is not quantized');
  if (biases !== undefined && biases.length !== channels && biases.length !== 1)
    return open('the bias does not have one element per output channel');
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

/** The entry for `channel`. Shorter lists repeat: groups and stacked matrices share their entries. */
function pick(values: ArrayLike<number>, channel: number): number {
  return values[channel % values.length] ?? 0;
}

/** Both operands are activations: the inner axis gives the number of products, each with the largest possible magnitude. */
function boundUnknownWeight(graph: Graph, node: Node, input: Dequantized, weight: Dequantized): Sums {
  const inner = node.opType === 'MatMul' ? input.dims?.at(-1) : undefined;
  if (typeof inner !== 'number' || weight.scales.length > 1) return open('the weight is not an integer constant');
  const sums = inner * largest(input) * largest(weight);
  return widest({ graph, node, input, weight, channels: 1 }, () => [sums, sums]);
}

function isPlainGemm(node: Node): boolean {
  return getFloat(node, 'alpha', 1) === 1 && getFloat(node, 'beta', 1) === 1;
}

/** Largest magnitude of an element, in units of its scale. */
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
  return { ...who, bound, unit, exactInFloat: false, reason: 'a sum can reach 2²⁴' };
}
