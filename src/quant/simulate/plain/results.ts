/** The integer kernels of ONNX Runtime and of TensorFlow Lite: results that wait for the parameters of their output. */
import { roundHalfEven } from '../../../base/round-half-even.js';
import { countElements, type Shape } from '../../../tensor/shape.js';
import { mapPairs } from './broadcast.js';
import { type Activation, centered, type HeldIntegers, type Target } from './held.js';
import { dividePowerOfTwo, doublingHighProduct, multiply, quantizeMultiplier, roundAway } from './tflite-multiplier.js';
import { type Values, type Window, windowOutput } from './window-sums.js';

const { fround } = Math;

export type Round = (target: Target, activations: readonly Activation[]) => Int32Array | undefined;

/** Kernels of one arithmetic. A kernel that the arithmetic lacks, or not for these operands, is undefined: the node then runs in float. */
export interface IntegerKernels {
  /** Sums with their biases, in units of inputScale · weightScales[channel]. */
  layer(sums: Values, scales: LayerScales): Round;
  add(a: HeldIntegers, b: HeldIntegers): Round | undefined;
  product(a: HeldIntegers, b: HeldIntegers): Round | undefined;
  averagePool(x: HeldIntegers, window: Window, options: AverageOptions): Round | undefined;
  globalAverage(x: HeldIntegers): Round | undefined;
  /** QuantizeLinear of a dequantized value. */
  requantize(x: HeldIntegers): Round | undefined;
}

export interface LayerScales {
  readonly input: number;
  readonly weights: readonly number[];
  /** Elements per channel, next to each other. */
  readonly inner: number;
}

export interface AverageOptions {
  readonly countsPadding: boolean;
}

const onlyScale = (x: HeldIntegers): { scale: number; zeroPoint: number } | undefined => (x.slices.length === 1 ? x.slices[0] : undefined);

const raw = ({ dims, integers }: HeldIntegers): Values => ({ dims, data: integers });

/** Saturates before rounding, as MLAS does. */
function saturate(v: number, { low, high, zeroPoint }: Target): number {
  return roundHalfEven(Math.min(Math.max(v, low - zeroPoint), high - zeroPoint)) + zeroPoint;
}

/** ONNX Runtime removes an activation function only if the integers of the output cannot leave its range. */
function isRemoved({ low, high, scale, zeroPoint }: Target, activations: readonly Activation[]): boolean {
  return activations.every(one => one.low <= (low - zeroPoint) * scale && one.high >= (high - zeroPoint) * scale);
}

function ortRound(count: number, element: (target: Target) => (index: number) => number): Round {
  return (target, activations) => {
    if (!isRemoved(target, activations)) return undefined;
    const round = element(target);
    return Int32Array.from({ length: count }, (_, index) => round(index));
  };
}

/** @see onnxruntime/core/mlas/lib: quantize.cpp, qladd.cpp, qlmul.cpp; onnxruntime/contrib_ops/cpu/quantization. */
export const ORT_KERNELS: IntegerKernels = {
  layer: ({ data }, { input, weights, inner }) =>
    ortRound(data.length, target => {
      const factors = weights.map(weight => fround(fround(input * weight) / target.scale));
      return index =>
        saturate(fround(fround(data[index] as number) * (factors[Math.floor(index / inner) % factors.length] as number)), target);
    }),
  add(a, b) {
    const [left, right] = [onlyScale(a), onlyScale(b)];
    const pairs = mapPairs(raw(a), raw(b), (x, y) => x * 65536 + y);
    if (left === undefined || right === undefined || pairs === undefined) return undefined;
    // The x86-64 kernel with fused multiply-add: one rounding per product and sum.
    return (target, activations) => {
      if (!isRemoved(target, activations)) return undefined;
      const [ra, rb] = [fround(left.scale / target.scale), fround(right.scale / target.scale)];
      const fixed = fround(target.zeroPoint - fround(ra * left.zeroPoint + fround(rb * right.zeroPoint)));
      const own: Target = { ...target, low: target.low, high: target.high };
      const sums = mapPairs(raw(a), raw(b), (x, y) => {
        const v = fround(x * ra + fround(y * rb + fixed));
        return roundHalfEven(Math.min(Math.max(v, own.low), own.high));
      });
      return Int32Array.from(sums?.data ?? []);
    };
  },
  product(a, b) {
    const [left, right] = [onlyScale(a), onlyScale(b)];
    if (left === undefined || right === undefined) return undefined;
    return (target, activations) => {
      if (!isRemoved(target, activations)) return undefined;
      const ratio = fround(fround(left.scale * right.scale) / target.scale);
      const products = mapPairs(raw(a), raw(b), (x, y) => {
        const v = fround(fround((x - left.zeroPoint) * (y - right.zeroPoint) * ratio) + target.zeroPoint);
        return roundHalfEven(Math.min(Math.max(v, target.low), target.high));
      });
      return products === undefined ? undefined : Int32Array.from(products.data);
    };
  },
  averagePool(x, window, { countsPadding }) {
    const params = onlyScale(x);
    if (params === undefined || x.dims.length !== 4) return undefined;
    const averages: number[] = [];
    forEachWindow(x, window, (elements, inside) => {
      let sum = 0;
      for (const element of elements) sum = fround(sum + fround((element - params.zeroPoint) * params.scale));
      averages.push(fround(sum / (countsPadding ? window.kernel[0] * window.kernel[1] : inside)));
    });
    return ortRound(averages.length, target => index => saturate(fround((averages[index] as number) / target.scale), target));
  },
  globalAverage(x) {
    const params = onlyScale(x);
    if (params === undefined) return undefined;
    const { sums, area } = sumPlanes(x);
    return ortRound(sums.length, target => {
      const factor = fround(params.scale / fround(target.scale * area));
      return index => saturate(fround(fround((sums[index] as number) - area * params.zeroPoint) * factor), target);
    });
  },
  requantize: () => undefined,
};

function sumPlanes({ dims, integers }: HeldIntegers): { readonly sums: readonly number[]; readonly area: number } {
  const area = countElements(dims.slice(2));
  const sums = Array.from({ length: integers.length / area }, (_, plane) =>
    integers.subarray(plane * area, (plane + 1) * area).reduce((sum, value) => sum + value, 0),
  );
  return { sums, area };
}

/** Calls `visit` with the integers in each window, without padding, in row-major order of the output. */
function forEachWindow(x: HeldIntegers, window: Window, visit: (elements: readonly number[], inside: number) => void): void {
  const [batch = 0, channels = 0, height = 0, width = 0] = x.dims;
  const [outHeight, outWidth] = windowOutput(window, [height, width]);
  for (let plane = 0; plane < batch * channels; plane++)
    for (let oy = 0; oy < outHeight; oy++)
      for (let ox = 0; ox < outWidth; ox++) {
        const elements: number[] = [];
        for (let ky = 0; ky < window.kernel[0]; ky++)
          for (let kx = 0; kx < window.kernel[1]; kx++) {
            const y = oy * window.strides[0] - window.pads[0] + ky * window.dilations[0];
            const column = ox * window.strides[1] - window.pads[1] + kx * window.dilations[1];
            if (y >= 0 && y < height && column >= 0 && column < width)
              elements.push(x.integers[(plane * height + y) * width + column] as number);
          }
        visit(elements, elements.length);
      }
}

/** Adds the zero point and limits to the activation functions' ends, in integers. @see kernel_util.cc: CalculateActivationRangeQuantized. */
function tfliteRound(count: number, element: (target: Target) => (index: number) => number): Round {
  return (target, activations) => {
    const round = element(target);
    const ends = activations.map(one => ({
      low: Number.isFinite(one.low) ? target.zeroPoint + roundAway(fround(one.low / target.scale)) : target.low,
      high: Number.isFinite(one.high) ? target.zeroPoint + roundAway(fround(one.high / target.scale)) : target.high,
    }));
    const low = Math.max(target.low, ...ends.map(one => one.low));
    const high = Math.min(target.high, ...ends.map(one => one.high));
    return Int32Array.from({ length: count }, (_, index) => Math.min(Math.max(round(index) + target.zeroPoint, low), high));
  };
}

/** Bits that operands of an addition are shifted left by. */
const ADD_SHIFT = 20;

/** @see TensorFlow Lite, kernels/internal/reference/integer_ops: conv.h, fully_connected.h, add.h, mul.h, pooling.h; reference/requantize.h. */
export const TFLITE_KERNELS: IntegerKernels = {
  layer: ({ data }, { input, weights, inner }) =>
    tfliteRound(data.length, target => {
      const multipliers = weights.map(weight => quantizeMultiplier((input * weight) / target.scale));
      return index => {
        const multiplier = multipliers[Math.floor(index / inner) % multipliers.length];
        return multiplier === undefined ? 0 : multiply(data[index] as number, multiplier);
      };
    }),
  add(a, b) {
    const [left, right] = [onlyScale(a), onlyScale(b)];
    if (left === undefined || right === undefined) return undefined;
    const twiceLargest = 2 * Math.max(left.scale, right.scale);
    const [ml, mr] = [quantizeMultiplier(left.scale / twiceLargest), quantizeMultiplier(right.scale / twiceLargest)];
    const scaled = (x: number, m: typeof ml): number => dividePowerOfTwo(doublingHighProduct(x * 2 ** ADD_SHIFT, m.mantissa), -m.shift);
    const sums = mapPairs(
      { dims: a.dims, data: centered(a) },
      { dims: b.dims, data: centered(b) },
      (x, y) => scaled(x, ml) + scaled(y, mr),
    );
    if (sums === undefined) return undefined;
    return tfliteRound(sums.data.length, target => {
      const out = quantizeMultiplier(twiceLargest / (2 ** ADD_SHIFT * target.scale));
      return index => multiply(sums.data[index] as number, out);
    });
  },
  product(a, b) {
    const [left, right] = [onlyScale(a), onlyScale(b)];
    if (left === undefined || right === undefined) return undefined;
    const products = mapPairs({ dims: a.dims, data: centered(a) }, { dims: b.dims, data: centered(b) }, (x, y) => x * y);
    if (products === undefined) return undefined;
    return tfliteRound(products.data.length, target => {
      const multiplier = quantizeMultiplier((left.scale * right.scale) / target.scale);
      return index => multiply(products.data[index] as number, multiplier);
    });
  },
  averagePool(x, window) {
    const params = onlyScale(x);
    if (params === undefined || x.dims.length !== 4) return undefined;
    const averages: number[] = [];
    forEachWindow(x, window, (elements, inside) => {
      averages.push(roundAway(elements.reduce((sum, element) => sum + element, 0) / inside) + 0);
    });
    // TensorFlow Lite's average has the parameters of its input.
    const round = tfliteRound(averages.length, target => index => (averages[index] as number) - target.zeroPoint);
    return (target, activations) =>
      target.scale === params.scale && target.zeroPoint === params.zeroPoint ? round(target, activations) : undefined;
  },
  globalAverage: () => undefined,
  requantize(x) {
    const params = onlyScale(x);
    if (params === undefined) return undefined;
    const integers = centered(x);
    return tfliteRound(integers.length, target => {
      const multiplier = quantizeMultiplier(params.scale / target.scale);
      return index => multiply(integers[index] as number, multiplier);
    });
  },
};

export function shapeOfGlobalAverage(dims: Shape): Shape {
  return dims.map((dim, axis) => (axis < 2 ? dim : 1));
}
