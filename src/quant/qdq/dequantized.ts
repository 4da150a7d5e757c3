/** Finds the integers, scales and zero points behind a float value of a QDQ model, by reading DequantizeLinear backwards. */
import { getInt } from '../../onnx/ir/attribute.js';
import type { Constant, Dim, Graph, Node, ValueId } from '../../onnx/ir/model.js';
import { decodeRawTensor } from '../../tensor/raw-tensor.js';
import type { RawTensor } from '../../tensor/tensor.js';
import { storageRange } from '../integers/quantized-dtype.js';

export interface Dequantized {
  /** Limits of the integer type. */
  readonly low: number;
  readonly high: number;
  /** One entry, or one per slice along `axis`. */
  readonly scales: readonly number[];
  readonly zeroPoints: readonly [number, ...number[]];
  readonly axis: number;
  /** The declared shape; undefined if the model does not declare one. */
  readonly dims: readonly Dim[] | undefined;
  /** The integers, if they are constant. */
  readonly constant: RawTensor | undefined;
}

const INT32 = { low: -(2 ** 31), high: 2 ** 31 - 1 };
const DOMAINS = ['', 'com.microsoft'];

/** Undefined unless `id` is the output of a DequantizeLinear with constant scale and zero point and without blocks. */
export function findDequantized(graph: Graph, id: ValueId): Dequantized | undefined {
  const node = producerOf(graph, id);
  if (node?.opType !== 'DequantizeLinear' || !DOMAINS.includes(node.domain) || getInt(node, 'block_size', 0) !== 0) return undefined;
  const [integers, scale, zeroPoint] = node.inputs;
  const scales = readNumbers(graph, scale);
  const zeroPoints = zeroPoint === undefined ? [0] : readNumbers(graph, zeroPoint);
  const value = integers === undefined ? undefined : graph.values.get(integers);
  const dtype =
    value?.constant?.dtype ?? dtypeOf(graph, zeroPoint) ?? (value?.type?.kind === 'tensor' ? value.type.dtype : undefined) ?? 'uint8';
  const [first, ...others] = zeroPoints ?? [];
  if (scales === undefined || scales.length === 0 || first === undefined) return undefined;
  const range =
    dtype === 'int32'
      ? INT32
      : dtype === 'int8' || dtype === 'uint8' || dtype === 'int16' || dtype === 'uint16'
        ? storageRange(dtype)
        : undefined;
  if (range === undefined) return undefined;
  return {
    ...range,
    scales,
    zeroPoints: [first, ...others],
    axis: getInt(node, 'axis', 1),
    dims: value?.type?.kind === 'tensor' ? value.type.dims : undefined,
    constant: numericConstant(value?.constant),
  };
}

function producerOf(graph: Graph, id: ValueId): Node | undefined {
  const producer = graph.values.get(id)?.producer;
  return producer === undefined ? undefined : graph.nodes.get(producer);
}

export function readNumbers(graph: Graph, id: ValueId | undefined): readonly number[] | undefined {
  const constant = numericConstant(id === undefined ? undefined : graph.values.get(id)?.constant);
  return constant === undefined ? undefined : Array.from(decodeRawTensor(constant).data as ArrayLike<number | bigint>, Number);
}

function dtypeOf(graph: Graph, id: ValueId | undefined): string | undefined {
  return id === undefined ? undefined : graph.values.get(id)?.constant?.dtype;
}

function numericConstant(constant: Constant | undefined): RawTensor | undefined {
  return constant === undefined || constant.dtype === 'string' ? undefined : constant;
}
