/** The weight of a layer in a QDQ model as a matrix: a row per output, a column per input that the output sums over. */
import { findInts, getInt } from '../../../onnx/ir/attribute.js';
import { getValue, type Use } from '../../../onnx/ir/edit.js';
import type { Graph, Node, ValueId } from '../../../onnx/ir/model.js';
import { decodeRawTensor, encodeRawTensor } from '../../../tensor/raw-tensor.js';
import { makeTensor, type RawTensor } from '../../../tensor/tensor.js';
import { findDequantized } from '../../qdq/dequantized.js';
import type { RowGrid } from './row-grid.js';

export interface LayerWeight {
  /** The initializer with the integers. */
  readonly value: ValueId;
  /** The weight behind DequantizeLinear: an input of the layer. */
  readonly dequantized: ValueId;
  readonly dims: readonly number[];
  /** Rows of each group have the inputs of that group. 1 except for a grouped Conv. */
  readonly groups: number;
  /** Rows in all groups. */
  readonly rows: number;
  readonly columns: number;
  /** Index of an element. */
  at(row: number, column: number): number;
  /** The limits of new integers: those of the number of bits that the stored integers use. */
  readonly low: number;
  readonly high: number;
  scaleOf(index: number): number;
  zeroPointOf(index: number): number;
}

/** The weight that only `node` reads; or the reason why it cannot be rounded again. */
export function findLayerWeight(graph: Graph, uses: ReadonlyMap<ValueId, readonly Use[]>, node: Node): LayerWeight | string {
  const dequantized = node.inputs[1];
  const stored = dequantized === undefined ? undefined : findDequantized(graph, dequantized);
  const value = dequantized === undefined ? undefined : producerInput(graph, dequantized);
  if (dequantized === undefined || stored?.constant === undefined || value === undefined) return 'its weight is not stored as integers';
  const isSole = (id: ValueId): boolean => uses.get(id)?.length === 1 && !graph.outputs.includes(id) && !graph.inputs.includes(id);
  if (!isSole(dequantized) || !isSole(value)) return 'its weight also serves other nodes';
  const { dims } = stored.constant;
  const matrix = layOut(node, dims);
  if (typeof matrix === 'string') return matrix;
  const { scales, zeroPoints, axis } = stored;
  const { low, high } = usedBits(readWeight(graph, { value }), stored);
  const sliceOf = slicesOf(dims, axis < 0 ? axis + dims.length : axis);
  const picker = (list: readonly number[], other: number): ((index: number) => number) => {
    const [first = other] = list;
    return list.length === 1 ? () => first : index => list[sliceOf(index)] ?? other;
  };
  return {
    value,
    dequantized,
    dims,
    ...matrix,
    low,
    high,
    scaleOf: picker(scales, 1),
    zeroPointOf: picker(zeroPoints, 0),
  };
}

/** The smallest range of whole bits that holds all integers; symmetric if the lowest integer of it is not used. */
function usedBits(integers: Int32Array, type: { readonly low: number; readonly high: number }) {
  let [least, most] = [0, 0];
  for (const x of integers) {
    least = Math.min(least, x);
    most = Math.max(most, x);
  }
  for (let half = 1; ; half *= 2) {
    const [low, high] = type.low < 0 ? [least === -half ? -half : 1 - half, half - 1] : [0, 2 * half - 1];
    if (low <= type.low || high >= type.high) return type;
    if (least >= low && most <= high) return { low, high };
  }
}

type Matrix = Pick<LayerWeight, 'groups' | 'rows' | 'columns' | 'at'>;

function layOut(node: Node, dims: readonly number[]): Matrix | string {
  const [first = 1, second = 1] = dims;
  if (node.opType === 'Conv') {
    const columns = dims.slice(1).reduce((product, dim) => product * dim, 1);
    return { groups: getInt(node, 'group', 1), rows: first, columns, at: (row, column) => row * columns + column };
  }
  if (node.opType === 'Gemm') {
    if (getInt(node, 'transA', 0) !== 0) return 'its input is transposed';
    return getInt(node, 'transB', 0) === 0
      ? { groups: 1, rows: second, columns: first, at: (row, column) => column * second + row }
      : { groups: 1, rows: first, columns: second, at: (row, column) => row * second + column };
  }
  return layOutTransposed(node, dims);
}

/** ConvTranspose whose windows do not overlap: each output sums over the channels at one position. */
function layOutTransposed(node: Node, dims: readonly number[]): Matrix | string {
  const [channels = 1, outputs = 1, ...kernel] = dims;
  const strides = findInts(node, 'strides') ?? kernel.map(() => 1);
  if (getInt(node, 'group', 1) !== 1) return 'it is a ConvTranspose with groups';
  if (!kernel.every((size, i) => size <= (strides[i] ?? 1))) return 'its windows overlap';
  const inner = kernel.reduce((product, dim) => product * dim, 1);
  const rows = outputs * inner;
  return { groups: 1, rows, columns: channels, at: (row, column) => column * rows + row };
}

function producerInput(graph: Graph, id: ValueId): ValueId | undefined {
  const { producer } = getValue(graph, id);
  return producer === undefined ? undefined : graph.nodes.get(producer)?.inputs[0];
}

/** Index of the slice along `axis` that an element is in. */
function slicesOf(dims: readonly number[], axis: number): (index: number) => number {
  const inner = dims.slice(axis + 1).reduce((product, dim) => product * dim, 1);
  const size = dims[axis] ?? 1;
  return index => Math.floor(index / inner) % size;
}

export function gridOf(weight: LayerWeight, row: number): RowGrid {
  const { columns, at, scaleOf, zeroPointOf, low, high } = weight;
  const [scales, zeroPoints] = [new Float32Array(columns), new Int32Array(columns)];
  for (let column = 0; column < columns; column++) {
    const index = at(row, column);
    scales[column] = scaleOf(index);
    zeroPoints[column] = zeroPointOf(index);
  }
  return { scales, zeroPoints, low, high };
}

export function readWeight(graph: Graph, weight: Pick<LayerWeight, 'value'>): Int32Array {
  return Int32Array.from(decodeRawTensor(constantOf(graph, weight)).data as ArrayLike<number>);
}

export function writeWeight(graph: Graph, weight: Pick<LayerWeight, 'value'>, integers: ArrayLike<number>): void {
  const { dtype, dims } = constantOf(graph, weight);
  const data = new ARRAYS[dtype](integers.length);
  data.set(integers);
  getValue(graph, weight.value).constant = encodeRawTensor(makeTensor(dtype, dims, data as never));
}

const ARRAYS = { int8: Int8Array, uint8: Uint8Array, int16: Int16Array, uint16: Uint16Array, int32: Int32Array } as const;

function constantOf(graph: Graph, { value }: Pick<LayerWeight, 'value'>): RawTensor & { readonly dtype: keyof typeof ARRAYS } {
  return getValue(graph, value).constant as RawTensor & { readonly dtype: keyof typeof ARRAYS };
}
