/** Facts about a unit that limits are checked against: window, groups, shapes and integer types of its operator. */
import { getDefined } from '../../base/invariant.js';
import { findInts, getInt } from '../../onnx/ir/attribute.js';
import { getValue } from '../../onnx/ir/edit.js';
import type { Constant, Dim, Model, Node, ValueId } from '../../onnx/ir/model.js';
import { findConstantValue } from '../../onnx/rewrite/graph-view.js';
import { findFloats, findIntegers } from '../../onnx/shape-inference/context/constant-elements.js';
import type { DType } from '../../tensor/dtype.js';

export interface KnownTensor {
  readonly name: string;
  readonly dtype: DType | undefined;
  readonly dims: readonly Dim[] | undefined;
}

export function tensorOf(model: Model, id: ValueId): KnownTensor {
  const { name, type, constant } = getValue(model.graph, id);
  if (constant !== undefined) return { name, dtype: constant.dtype, dims: constant.dims };
  return type?.kind === 'tensor' ? { name, dtype: type.dtype, dims: type.dims } : { name, dtype: undefined, dims: undefined };
}

/** The tensor at input `index`; undefined if there is none. */
export function inputOf(model: Model, node: Node, index: number): KnownTensor | undefined {
  const id = node.inputs[index];
  return id === undefined ? undefined : tensorOf(model, id);
}

export function outputOf(model: Model, node: Node, index = 0): KnownTensor | undefined {
  const id = node.outputs[index];
  return id === undefined ? undefined : tensorOf(model, id);
}

/** The operator name in limits: a Conv with several groups of one input channel is a DepthwiseConv. */
export function limitNameOf(model: Model, node: Node): string {
  if (node.opType !== 'Conv') return node.opType;
  const group = getInt(node, 'group', 1);
  return group > 1 && inputOf(model, node, 1)?.dims?.[1] === 1 ? 'DepthwiseConv' : 'Conv';
}

export interface Window {
  readonly kernel: readonly number[];
  readonly stride: readonly number[];
  readonly dilation: readonly number[];
}

const WINDOWED = new Set(['Conv', 'ConvTranspose', 'MaxPool', 'AveragePool', 'LpPool']);

/** The window of an operator; undefined if it has none or its size is unknown. */
export function findWindow(model: Model, node: Node): Window | undefined {
  if (!WINDOWED.has(node.opType)) return undefined;
  const kernel = findInts(node, 'kernel_shape') ?? toNumbers(inputOf(model, node, 1)?.dims?.slice(2));
  if (kernel === undefined) return undefined;
  const ones = kernel.map(() => 1);
  return { kernel, stride: findInts(node, 'strides') ?? ones, dilation: findInts(node, 'dilations') ?? ones };
}

/** Scale and zero point of a Q or DQ. */
export interface KnownQParams {
  /** The integer type. */
  readonly dtype: DType | undefined;
  /** One per slice. */
  readonly scales: readonly number[];
  readonly zeroPoints: readonly number[];
  /** Undefined for per-tensor. */
  readonly axis: number | undefined;
}

/** The parameters of a Q or DQ; undefined if they are not constant. */
export function findQParams(model: Model, node: Node): KnownQParams | undefined {
  const scale = findConstantValue(model, node.inputs[1]);
  const zero = node.inputs[2] === undefined ? undefined : findConstantValue(model, node.inputs[2]);
  const scales = findFloats(scale);
  if (scales === undefined || (node.inputs[2] !== undefined && zero === undefined)) return undefined;
  const integers = node.opType === 'QuantizeLinear' ? outputOf(model, node) : inputOf(model, node, 0);
  const perTensor = (scale?.dims.length ?? 0) === 0 || scales.length === 1;
  return {
    dtype: zero?.dtype ?? integers?.dtype,
    scales,
    zeroPoints: findIntegers(zero) ?? scales.map(() => 0),
    axis: perTensor ? undefined : getInt(node, 'axis', 1),
  };
}

/** The constant that a DQ reads, directly or through a Q. */
export function findQuantizedConstant(model: Model, dequantizer: Node): Constant | undefined {
  const direct = findConstantValue(model, dequantizer.inputs[0]);
  if (direct !== undefined) return direct;
  const producer = getValue(model.graph, getDefined(dequantizer.inputs[0], 'input of a DequantizeLinear')).producer;
  const node = producer === undefined ? undefined : model.graph.nodes.get(producer);
  return node?.opType === 'QuantizeLinear' ? findConstantValue(model, node.inputs[0]) : undefined;
}

/** "1×3×544×960"; "?" for an unknown size. */
export function formatSizes(sizes: readonly Dim[]): string {
  return sizes.length === 0 ? 'scalar' : sizes.map(size => size ?? '?').join('×');
}

function toNumbers(dims: readonly Dim[] | undefined): number[] | undefined {
  const numbers = dims?.filter(dim => typeof dim === 'number');
  return numbers !== undefined && numbers.length === dims?.length && numbers.length > 0 ? numbers : undefined;
}
