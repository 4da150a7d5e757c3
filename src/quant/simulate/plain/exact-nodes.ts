/** The steps of exact values, in doubles: every number is a multiple of a power of two below 2⁵³ of them, so that nothing is rounded. */
import { getInt } from '../../../onnx/ir/attribute.js';
import type { Node } from '../../../onnx/ir/model.js';
import { countElements, type Shape } from '../../../tensor/shape.js';
import { type ExactStep, HARD_SIGMOID_SLOPE } from '../steps/exact-values.js';
import { mapPairs } from './broadcast.js';
import { findWindow, type SumConv, sumConv, sumConvTranspose, sumGemm, sumMatMul, type Values, windowOutput } from './window-sums.js';

export interface Exact {
  readonly dims: Shape;
  readonly data: Float64Array;
}

/** The output of the step, or undefined if it has a form without integer code. `move` and `dequantize` are not computed here. */
export function runExact(step: ExactStep, node: Node, inputs: readonly (Exact | undefined)[]): Exact | undefined {
  const [x, y, z] = inputs;
  if (x === undefined) return undefined;
  const map = (f: (value: number) => number): Exact => ({ dims: x.dims, data: x.data.map(f) });
  switch (step.kind) {
    case 'sum':
      return y === undefined ? undefined : runSum(node, x, y, z);
    case 'relu':
      return map(value => Math.max(value, 0));
    case 'clip':
      return map(value => Math.min(Math.max(value, step.low), step.high));
    case 'leaky':
      return map(value => (value < 0 ? value * step.slope : value));
    case 'hard-sigmoid':
      return map(value => Math.min(Math.max(value * HARD_SIGMOID_SLOPE + 0.5, 0), 1));
    case 'average':
      return node.opType === 'AveragePool' ? averageWindows(node, x, step.factor) : averagePlanes(x, step.factor);
    case 'included':
    case 'move':
    case 'dequantize':
      return undefined;
  }
}

function runSum(node: Node, x: Exact, y: Exact, bias: Exact | undefined): Exact | undefined {
  switch (node.opType) {
    case 'Add':
      return mapPairs(x, y, (a, b) => a + b);
    case 'Sub':
      return mapPairs(x, y, (a, b) => a - b);
    case 'Mul':
      return mapPairs(x, y, (a, b) => a * b);
    case 'MatMul':
      return exact(sumMatMul(x, y));
    case 'Gemm':
      return addBias(sumGemm(node, x, y), bias);
    case 'ConvTranspose':
      return addBias(sumConvTranspose(node, x, y), perChannel(bias));
    default:
      return addBias(convolve(node, x, y, sumConv), perChannel(bias));
  }
}

/** A 1-D convolution is a 2-D one of height 1. Undefined for other ranks. */
export function convolve(node: Node, x: Values, w: Values, sum: SumConv): Values | undefined {
  const window = findWindow(node, w.dims.slice(2));
  return window === undefined ? undefined : sum(x, w, window, getInt(node, 'group', 1));
}

function exact(values: Values | undefined): Exact | undefined {
  return values === undefined ? undefined : { dims: values.dims, data: Float64Array.from(values.data) };
}

/** [M] as [M, 1, 1], so that it is added per channel. */
function perChannel(bias: Exact | undefined): Exact | undefined {
  return bias === undefined ? undefined : { dims: [...bias.dims, 1, 1], data: bias.data };
}

function addBias(sums: Values | undefined, bias: Exact | undefined): Exact | undefined {
  if (sums === undefined || bias === undefined) return exact(sums);
  return mapPairs(sums, bias, (a, b) => a + b);
}

function averagePlanes(x: Exact, factor: number): Exact {
  const area = countElements(x.dims.slice(2));
  const planes = x.data.length / area;
  const data = Float64Array.from({ length: planes }, (_, plane) => {
    let sum = 0;
    for (let i = plane * area; i < (plane + 1) * area; i++) sum += x.data[i] as number;
    return sum * factor;
  });
  return { dims: x.dims.map((dim, axis) => (axis < 2 ? dim : 1)), data };
}

/** A sum over a window is a depthwise convolution with ones. */
function averageWindows(node: Node, x: Exact, factor: number): Exact | undefined {
  const [, channels = 0, height = 0, width = 0] = x.dims;
  const kernel = node.attributes.get('kernel_shape');
  const window = kernel?.kind === 'ints' ? findWindow(node, kernel.value.map(Number)) : undefined;
  if (window === undefined) return undefined;
  const ones = { dims: [channels, 1, ...window.kernel], data: new Float64Array(channels * window.kernel[0] * window.kernel[1]).fill(1) };
  if (windowOutput(window, [height, width]).some(size => size <= 0)) return undefined;
  const { dims, data } = sumConv(x, ones, window, channels);
  return { dims, data: Float64Array.from(data, sum => sum * factor) };
}
