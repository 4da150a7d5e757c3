/** Nodes that an arithmetic with integer kernels computes from the integers of their operands. */
import { findInts, getFloat, getInt, getString } from '../../../onnx/ir/attribute.js';
import type { Node } from '../../../onnx/ir/model.js';
import { countElements, type Shape } from '../../../tensor/shape.js';
import { mapPairs } from './broadcast.js';
import { convolve } from './exact-nodes.js';
import { centered, type HeldIntegers } from './held.js';
import { type IntegerKernels, type Round, shapeOfGlobalAverage } from './results.js';
import { findWindow, type SumConv, sumGemm, sumMatMul, type Values, windowOutput } from './window-sums.js';

export interface IntegerResult {
  readonly dims: Shape;
  readonly round: Round;
}

/** The result of the node in integers; undefined if the arithmetic computes it in float. */
export function runInteger(
  kernels: IntegerKernels,
  node: Node,
  inputs: readonly (HeldIntegers | undefined)[],
  sumConv: SumConv,
): IntegerResult | undefined {
  const [x, y, bias] = inputs;
  if (x === undefined || x.dtype === 'int32') return undefined;
  switch (node.opType) {
    case 'Conv':
    case 'Gemm':
    case 'MatMul':
      return y === undefined ? undefined : runLayer(kernels, node, { x, w: y, bias }, sumConv);
    case 'Add':
    case 'Mul': {
      const dims =
        y === undefined ? undefined : mapPairs({ dims: x.dims, data: x.integers }, { dims: y.dims, data: y.integers }, () => 0)?.dims;
      if (y === undefined || y.dtype === 'int32' || dims === undefined) return undefined;
      const round = node.opType === 'Add' ? kernels.add(x, y) : kernels.product(x, y);
      return round === undefined ? undefined : { dims, round };
    }
    case 'AveragePool':
      return runAverage(kernels, node, x);
    case 'GlobalAveragePool': {
      const round = kernels.globalAverage(x);
      return round === undefined ? undefined : { dims: shapeOfGlobalAverage(x.dims), round };
    }
    default:
      return undefined;
  }
}

interface Layer {
  readonly x: HeldIntegers;
  readonly w: HeldIntegers;
  readonly bias: HeldIntegers | undefined;
}

function runLayer(kernels: IntegerKernels, node: Node, { x, w, bias }: Layer, sumConv: SumConv): IntegerResult | undefined {
  const [input] = x.slices;
  if (input === undefined || x.slices.length > 1 || (node.inputs[2] !== undefined && bias?.dtype !== 'int32')) return undefined;
  const sums = sumLayer(node, { dims: x.dims, data: centered(x) }, { dims: w.dims, data: centered(w) }, sumConv);
  if (sums === undefined) return undefined;
  const isConv = node.opType === 'Conv';
  const inner = isConv ? countElements(sums.dims.slice(2)) : 1;
  const channels = (isConv ? sums.dims[1] : sums.dims.at(-1)) ?? 0;
  if (w.slices.length > 1 && w.slices.length !== channels) return undefined;
  const biases = bias?.integers;
  const data = Int32Array.from(sums.data, (sum, index) => sum + (biases?.[Math.floor(index / inner) % channels] ?? 0));
  const weights = w.slices.map(slice => slice.scale);
  return { dims: sums.dims, round: kernels.layer({ dims: sums.dims, data }, { input: input.scale, weights, inner }) };
}

function sumLayer(node: Node, x: Values, w: Values, sumConv: SumConv): Values | undefined {
  if (node.opType === 'Conv') return convolve(node, x, w, sumConv);
  if (node.opType === 'MatMul') return sumMatMul(x, w);
  return getFloat(node, 'alpha', 1) === 1 && getFloat(node, 'beta', 1) === 1 ? sumGemm(node, x, w) : undefined;
}

function runAverage(kernels: IntegerKernels, node: Node, x: HeldIntegers): IntegerResult | undefined {
  const window = findWindow(node, findInts(node, 'kernel_shape') ?? []);
  const [batch = 0, channels = 0, height = 0, width = 0] = x.dims;
  if (window === undefined || getInt(node, 'ceil_mode', 0) !== 0 || getString(node, 'auto_pad', 'NOTSET') !== 'NOTSET') return undefined;
  const round = kernels.averagePool(x, window, { countsPadding: getInt(node, 'count_include_pad', 0) !== 0 });
  return round === undefined ? undefined : { dims: [batch, channels, ...windowOutput(window, [height, width])], round };
}
