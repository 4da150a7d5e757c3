/** The values of a QDQ model that a device with power-of-two scales holds as integers with a fraction: exact numbers until they are rounded. */
import { MOVING_OPERATORS } from '../../../onnx/analysis/moving-operators.js';
import { findInts, getFloat, getInt, getString } from '../../../onnx/ir/attribute.js';
import type { Graph, Node, NodeId, Value, ValueId } from '../../../onnx/ir/model.js';
import { poolFactor } from '../../../onnx/rules/target/activations/dpu-factors.js';
import { decodeRawTensor } from '../../../tensor/raw-tensor.js';
import { boundsByNode } from '../../exact/accumulator-bounds.js';
import type { AccumulatorBound } from '../../exact/accumulator-schema.js';
import { findPosition } from '../../integers/power-of-two.js';
import { findDequantized, readNumbers } from '../../qdq/dequantized.js';

/** How a node computes an exact value. */
export type ExactStep =
  /** Conv, ConvTranspose, Gemm, MatMul, Add, Sub, Mul: integer sums or products. */
  | { readonly kind: 'sum'; readonly bound: AccumulatorBound }
  | { readonly kind: 'move' }
  | { readonly kind: 'relu' }
  | { readonly kind: 'clip'; readonly low: number; readonly high: number }
  /** x if x ≥ 0, otherwise slope · x; the slope is a multiple of 1/256. */
  | { readonly kind: 'leaky'; readonly slope: number }
  /** The sum of a window times `factor`, which a device takes for 1/`area`. */
  | { readonly kind: 'average'; readonly area: number; readonly factor: number }
  /** 2731/2^14 · x + 1/2, limited to 0…1. */
  | { readonly kind: 'hard-sigmoid' }
  /** A multiplication by the factor that the step before includes. */
  | { readonly kind: 'included' }
  | { readonly kind: 'dequantize' };

export interface ExactValue {
  /** A power of two: the value is a multiple of it. */
  readonly unit: number;
}

export interface ExactValues {
  readonly steps: ReadonlyMap<NodeId, ExactStep>;
  readonly values: ReadonlyMap<ValueId, ExactValue>;
}

const MOVES = new Set([...MOVING_OPERATORS, 'MaxPool']);

const SUMS = new Set(['Conv', 'ConvTranspose', 'Gemm', 'MatMul', 'Add', 'Sub', 'Mul']);

export const HARD_SIGMOID_SLOPE = 2731 / 2 ** 14;
const HARD_SIGMOID_FACTOR = Math.fround(6 * HARD_SIGMOID_SLOPE);

/** Nodes are visited in graph order, which must be topological. */
export function findExactValues(graph: Graph): ExactValues {
  const bounds = boundsByNode(graph);
  const steps = new Map<NodeId, ExactStep>();
  const values = new Map<ValueId, ExactValue>();
  for (const node of graph.nodes.values()) {
    const [output] = node.outputs;
    const found = output === undefined ? undefined : findStep({ graph, bounds, steps, values }, node);
    if (found === undefined) continue;
    steps.set(node.id, found.step);
    for (const id of node.outputs) if (id !== undefined) values.set(id, { unit: found.unit });
  }
  return { steps, values };
}

interface Search {
  readonly graph: Graph;
  readonly bounds: ReadonlyMap<NodeId, AccumulatorBound>;
  readonly steps: ReadonlyMap<NodeId, ExactStep>;
  readonly values: ReadonlyMap<ValueId, ExactValue>;
}

interface Found {
  readonly step: ExactStep;
  readonly unit: number;
}

function findStep(search: Search, node: Node): Found | undefined {
  const { graph, values } = search;
  const [x] = node.inputs;
  if (x === undefined) return undefined;
  if (node.opType === 'DequantizeLinear') return findDequantize(graph, node);
  if (node.domain !== '') return undefined;
  if (SUMS.has(node.opType)) return findSum(search, node);
  const unit = values.get(x)?.unit;
  if (unit === undefined) return undefined;
  if (MOVES.has(node.opType) || isNearest(node)) {
    const data = node.opType === 'Concat' ? node.inputs : [x];
    const units = data.map(id => (id === undefined ? undefined : values.get(id)?.unit));
    return units.every(one => one !== undefined) ? { step: { kind: 'move' }, unit: Math.min(...units) } : undefined;
  }
  return findActivation(graph, node, unit);
}

function findActivation(graph: Graph, node: Node, unit: number): Found | undefined {
  switch (node.opType) {
    case 'Relu':
      return { step: { kind: 'relu' }, unit };
    case 'Clip': {
      const [low = Number.NEGATIVE_INFINITY, high = Number.POSITIVE_INFINITY] = [1, 2].map(index => boundOf(graph, node, index));
      const isOnGrid = [low, high].every(end => !Number.isNaN(end) && (!Number.isFinite(end) || Number.isInteger(end / unit)));
      return isOnGrid ? { step: { kind: 'clip', low, high }, unit } : undefined;
    }
    case 'LeakyRelu': {
      const slope = Math.round(getFloat(node, 'alpha', 0.01) * 256) / 256;
      return { step: { kind: 'leaky', slope }, unit: unit / 256 };
    }
    case 'HardSigmoid':
      return getFloat(node, 'alpha', 0.2) === Math.fround(1 / 6) && getFloat(node, 'beta', 0.5) === 0.5
        ? { step: { kind: 'hard-sigmoid' }, unit: Math.min(unit, 1) / 2 ** 14 }
        : undefined;
    case 'AveragePool':
    case 'GlobalAveragePool':
      return findAverage(graph, node, unit);
    default:
      return undefined;
  }
}

/** NaN for a bound that is not constant; undefined for none. */
function boundOf(graph: Graph, node: Node, index: number): number | undefined {
  const id = node.inputs[index];
  return id === undefined ? undefined : (readNumbers(graph, id)?.[0] ?? Number.NaN);
}

function findDequantize(graph: Graph, node: Node): Found | undefined {
  const [output] = node.outputs;
  const found = output === undefined ? undefined : findDequantized(graph, output);
  if (found === undefined || found.scales.some(scale => findPosition(scale) === undefined)) return undefined;
  return { step: { kind: 'dequantize' }, unit: Math.min(...found.scales) };
}

function findSum({ graph, bounds, steps, values }: Search, node: Node): Found | undefined {
  if (node.opType === 'Mul' && isIncluded(graph, steps, node)) {
    const unit = node.inputs.map(id => (id === undefined ? undefined : values.get(id)?.unit)).find(one => one !== undefined);
    return unit === undefined ? undefined : { step: { kind: 'included' }, unit };
  }
  const operands = node.inputs.filter(id => id !== undefined);
  const bound = bounds.get(node.id);
  if (bound?.unit === undefined || !operands.every(id => values.has(id))) return undefined;
  // The unit of the widest channel; another channel with per-channel scales can have a smaller one.
  const [a = 0, b = 0, c = Number.POSITIVE_INFINITY] = operands.map(id => values.get(id)?.unit);
  const unit = node.opType === 'Add' || node.opType === 'Sub' ? Math.min(a, b) : Math.min(a * b, c);
  return { step: { kind: 'sum', bound }, unit };
}

/** Whether the node multiplies by the factor of a DPU, which the step that makes its other operand includes. */
function isIncluded(graph: Graph, steps: Search['steps'], { inputs }: Node): boolean {
  const [x, y] = inputs.map(id => (id === undefined ? undefined : graph.values.get(id)));
  const isFactorOf = (factor: Value | undefined, of: Value | undefined): boolean => {
    const step = of?.producer === undefined ? undefined : steps.get(of.producer);
    const constant = factor?.constant;
    if (step === undefined || constant?.dtype !== 'float32') return false;
    const [value, ...more] = decodeRawTensor(constant).data as Float32Array;
    if (value === undefined || more.length > 0) return false;
    if (step.kind === 'hard-sigmoid') return value === HARD_SIGMOID_FACTOR;
    return step.kind === 'average' && value === Math.fround(step.area * step.factor);
  };
  return isFactorOf(y, x) || isFactorOf(x, y);
}

function findAverage(graph: Graph, node: Node, unit: number): Found | undefined {
  const sides = node.opType === 'AveragePool' ? findInts(node, 'kernel_shape') : spatialDims(graph, node);
  const [height, width, ...more] = sides ?? [];
  if (height === undefined || width === undefined || more.length > 0) return undefined;
  const isPadded = (findInts(node, 'pads') ?? []).some(pad => pad !== 0) || getString(node, 'auto_pad', 'NOTSET') !== 'NOTSET';
  if (isPadded && getInt(node, 'count_include_pad', 0) === 0) return undefined;
  if (getInt(node, 'ceil_mode', 0) !== 0) return undefined;
  const area = height * width;
  const factor = poolFactor(height, width) / area;
  // 1/area itself, for windows beyond the largest that a device has a factor for, is no multiple of a power of two.
  const position = findFraction(factor);
  return position === undefined ? undefined : { step: { kind: 'average', area, factor }, unit: unit / 2 ** position };
}

const MOST_FRACTION_BITS = 24;

/** The least m for which `x` is a multiple of 2^−m. */
function findFraction(x: number): number | undefined {
  for (let bits = 0; bits <= MOST_FRACTION_BITS; bits++) if (Number.isInteger(x * 2 ** bits)) return bits;
  return undefined;
}

function spatialDims(graph: Graph, { inputs: [x] }: Node): readonly number[] | undefined {
  const type = x === undefined ? undefined : graph.values.get(x)?.type;
  const dims = type?.kind === 'tensor' ? type.dims?.slice(2) : undefined;
  return dims?.every(dim => typeof dim === 'number') === true ? (dims as readonly number[]) : undefined;
}

function isNearest(node: Node): boolean {
  return node.opType === 'Resize' && getString(node, 'mode', 'nearest') === 'nearest';
}
