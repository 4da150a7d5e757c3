/** The bias of a layer in a QDQ model: found, shifted by an amount per channel, and written back. */
import { invariant } from '../../base/invariant.js';
import { getFloat } from '../../onnx/ir/attribute.js';
import { getValue, type Use } from '../../onnx/ir/edit.js';
import type { Graph, Node, ValueId } from '../../onnx/ir/model.js';
import { decodeRawTensor, encodeRawTensor } from '../../tensor/raw-tensor.js';
import { makeTensor, type RawTensor } from '../../tensor/tensor.js';
import { saturate } from '../integers/rounding.js';
import { findDequantized } from '../qdq/dequantized.js';

export interface LayerBias {
  /** The initializer: float32, or the integers before DequantizeLinear. */
  readonly value: ValueId;
  readonly form: 'float' | 'integers';
  /** What one unit of each stored element adds to the layer's output, per channel. */
  readonly steps: readonly number[];
  readonly low: number;
  readonly high: number;
}

/** The bias that only `node` reads; or the reason why there is none. */
export function findLayerBias(graph: Graph, uses: ReadonlyMap<ValueId, readonly Use[]>, node: Node): LayerBias | string {
  const input = node.inputs[2];
  if (input === undefined) return 'it has no bias';
  const factor = node.opType === 'Gemm' ? getFloat(node, 'beta', 1) : 1;
  if (factor === 0) return 'its bias has no effect';
  const value = getValue(graph, input);
  const isSole = (id: ValueId): boolean => uses.get(id)?.length === 1 && !graph.outputs.includes(id) && !graph.inputs.includes(id);
  const shared = 'its bias also serves other nodes';
  if (value.constant?.dtype === 'float32') {
    const { dims } = value.constant;
    if (!isVector(dims)) return 'its bias is not one number per channel';
    if (!isSole(input)) return shared;
    return {
      value: input,
      form: 'float',
      steps: Array<number>(elementsOf(dims)).fill(factor),
      low: Number.NEGATIVE_INFINITY,
      high: Number.POSITIVE_INFINITY,
    };
  }
  const stored = findDequantized(graph, input);
  const integers = value.producer === undefined ? undefined : graph.nodes.get(value.producer)?.inputs[0];
  if (stored?.constant === undefined || integers === undefined) return 'its bias is computed';
  const { constant, scales, low, high } = stored;
  if (!isVector(constant.dims)) return 'its bias is not one number per channel';
  if (!isSole(input) || !isSole(integers)) return shared;
  const count = elementsOf(constant.dims);
  const steps = Array.from({ length: count }, (_, i) => (scales[scales.length === 1 ? 0 : i] ?? 0) * factor);
  return { value: integers, form: 'integers', steps, low, high };
}

function isVector(dims: readonly number[]): boolean {
  return dims.length > 0 && dims.slice(0, -1).every(dim => dim === 1) && elementsOf(dims) > 0;
}

function elementsOf(dims: readonly number[]): number {
  return dims.at(-1) ?? 1;
}

export interface ShiftedBias {
  /** Elements of the initializer. */
  readonly elements: readonly number[];
  /** Number of elements that the type could not hold. */
  readonly saturated: number;
}

export function readBias(graph: Graph, bias: LayerBias): readonly number[] {
  return Array.from(decodeRawTensor(constantOf(graph, bias)).data as ArrayLike<number>, Number);
}

/** The bias with `shift` added to the layer's output: integers are rounded half to even and saturate. */
export function shiftBias(graph: Graph, bias: LayerBias, shift: ArrayLike<number>): ShiftedBias {
  let saturated = 0;
  const elements = readBias(graph, bias).map((element, i) => {
    const wanted = element + (shift[i] ?? 0) / (bias.steps[i] ?? 1);
    if (bias.form === 'float') return Math.fround(wanted);
    const integer = saturate(wanted, bias.low, bias.high);
    if (Math.abs(integer - wanted) > 0.5) saturated++;
    return integer;
  });
  return { elements, saturated };
}

export function writeBias(graph: Graph, bias: LayerBias, elements: readonly number[]): void {
  const { dtype, dims } = constantOf(graph, bias);
  const data = new ARRAYS[dtype](elements.length);
  data.set(elements);
  getValue(graph, bias.value).constant = encodeRawTensor(makeTensor(dtype, dims, data as never));
}

const ARRAYS = {
  float32: Float32Array,
  int8: Int8Array,
  uint8: Uint8Array,
  int16: Int16Array,
  uint16: Uint16Array,
  int32: Int32Array,
} as const;

function constantOf(graph: Graph, { value }: LayerBias): RawTensor & { readonly dtype: keyof typeof ARRAYS } {
  const { constant } = getValue(graph, value);
  invariant(constant !== undefined && Object.hasOwn(ARRAYS, constant.dtype), 'the bias of a layer is a constant of numbers');
  return constant as RawTensor & { readonly dtype: keyof typeof ARRAYS };
}
