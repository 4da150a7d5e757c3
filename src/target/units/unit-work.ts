/** The work of a unit: multiply-accumulates, and bytes of weights, inputs and outputs. */

import { countMacs } from '../../onnx/analysis/macs.js';
import type { Model, Node, ValueId } from '../../onnx/ir/model.js';
import { valuesReadBy } from '../../onnx/ir/reads.js';
import { findConstantValue } from '../../onnx/rewrite/graph-view.js';
import { isStatic } from '../../onnx/shape-inference/context/dims.js';
import { byteLength } from '../../tensor/dtype.js';
import type { NodeUnit } from './node-units.js';
import { findWindow, inputOf, limitNameOf, outputOf, tensorOf } from './unit-facts.js';

/** Sizes of a layer of which an array of multipliers computes several at once. */
export interface LayerShape {
  /** Per group. */
  readonly inputChannels: number;
  readonly outputChannels: number;
  /** Of the output; 1 for products of matrices. */
  readonly width: number;
}

export interface UnitWork {
  /** For Conv, ConvTranspose, Gemm and MatMul; 0 for others. */
  readonly macs: number;
  /** For units with multiply-accumulates whose sizes are known. */
  readonly shape?: LayerShape;
  /** For a unit without MACs: output elements times window size. */
  readonly elements: number;
  readonly engine: 'conv' | 'depthwise' | 'other';
  readonly weightBytes: number;
  /** Bytes of activations, each value once. */
  readonly inputBytes: number;
  readonly outputBytes: number;
}

/** Unknown sizes count as 0. */
export function measureUnit(model: Model, unit: NodeUnit): UnitWork {
  const { inputs, outputs, constants } = endsOf(model, unit);
  const sum = (ids: readonly ValueId[]): number => ids.reduce((total, id) => total + bytesOf(model, id), 0);
  const { target } = unit;
  const macs =
    countMacs(target, { input: index => inputOf(model, target, index)?.dims, output: index => outputOf(model, target, index)?.dims }) ?? 0;
  const name = limitNameOf(model, target);
  const shape = macs === 0 ? undefined : shapeOf(model, target, macs);
  return {
    macs,
    ...(shape === undefined ? {} : { shape }),
    elements: macs > 0 ? 0 : countElements(outputOf(model, target)?.dims) * windowSize(model, target),
    engine: macs === 0 ? 'other' : name === 'DepthwiseConv' ? 'depthwise' : 'conv',
    weightBytes: sum(constants),
    inputBytes: sum(inputs),
    outputBytes: sum(outputs),
  };
}

/** The output of a Conv has its channels in dim 1, that of a product in the last one; what is left of the work per output element is the inputs. */
function shapeOf(model: Model, node: Node, macs: number): LayerShape | undefined {
  const dims = outputOf(model, node)?.dims;
  if (!isStatic(dims) || countElements(dims) === 0) return undefined;
  const isConv = node.opType === 'Conv' || node.opType === 'ConvTranspose';
  const outputChannels = (isConv ? dims[1] : dims.at(-1)) ?? 1;
  const weights = inputOf(model, node, 1)?.dims;
  const inputChannels = node.opType === 'Conv' ? weights?.[1] : node.opType === 'ConvTranspose' ? weights?.[0] : macs / countElements(dims);
  if (typeof inputChannels !== 'number') return undefined;
  return { inputChannels, outputChannels, width: isConv && dims.length > 2 ? (dims.at(-1) ?? 1) : 1 };
}

/** The work of a unit in float32 after quantization to types of these sizes in bytes. */
export function quantizeWork(work: UnitWork, bytes: { readonly activation: number; readonly weight: number }): UnitWork {
  const { weightBytes, inputBytes, outputBytes } = work;
  const share = bytes.activation / 4;
  return { ...work, weightBytes: (weightBytes * bytes.weight) / 4, inputBytes: inputBytes * share, outputBytes: outputBytes * share };
}

export interface UnitEnds {
  /** Values of other units, or model inputs. */
  readonly inputs: readonly ValueId[];
  /** Values that other units read, or model outputs. */
  readonly outputs: readonly ValueId[];
  readonly constants: readonly ValueId[];
}

/** The inputs and outputs of a set of nodes: each value once, in the order of first use. Outputs are the values that its nodes compute and do not all read. */
export function endsOf(model: Model, { nodes }: Pick<NodeUnit, 'nodes'>): UnitEnds {
  const given = new Set(nodes.flatMap(node => node.outputs.filter(id => id !== undefined)));
  const read = new Set(nodes.flatMap(node => [...valuesReadBy(node)]));
  const outside = [...read].filter(id => !given.has(id));
  const isConstant = (id: ValueId): boolean => findConstantValue(model, id) !== undefined;
  return {
    inputs: outside.filter(id => !isConstant(id)),
    outputs: [...given].filter(id => !read.has(id) || model.graph.outputs.includes(id)),
    constants: outside.filter(isConstant),
  };
}

/** Bytes of one tensor; 0 if its type or a size is unknown. */
export function bytesOf(model: Model, id: ValueId): number {
  const { dtype, dims } = tensorOf(model, id);
  return dtype === undefined || dtype === 'string' || !isStatic(dims) ? 0 : byteLength(dtype, countElements(dims));
}

function windowSize(model: Model, node: Node): number {
  if (node.opType === 'GlobalAveragePool' || node.opType === 'GlobalMaxPool') {
    const size = countElements(inputOf(model, node, 0)?.dims) / Math.max(1, countElements(outputOf(model, node)?.dims));
    return Math.max(1, size);
  }
  return findWindow(model, node)?.kernel.reduce((product, size) => product * size, 1) ?? 1;
}

function countElements(dims: readonly (number | string | undefined)[] | undefined): number {
  return isStatic(dims) ? dims.reduce((product, dim) => product * dim, 1) : 0;
}
