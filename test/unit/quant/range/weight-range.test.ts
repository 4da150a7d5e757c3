/** Ranges of weights against an exhaustive search for the scale with the smallest squared error; weights of fewer bits. */
import { roundHalfEven } from '../../../../src/base/round-half-even.js';
import type { NodeId } from '../../../../src/onnx/ir/model.js';
import { findPosition } from '../../../../src/quant/integers/power-of-two.js';
import type { QParams } from '../../../../src/quant/integers/qparams.js';
import { dequantizeLinear, quantizeLinear } from '../../../../src/quant/integers/quantize-linear.js';
import { saturationRange } from '../../../../src/quant/integers/quantized-dtype.js';
import { planQuantization } from '../../../../src/quant/placement/plan-quantization.js';
import type { WeightRangeMethod } from '../../../../src/quant/range/weight-range.js';
import { PRESETS } from '../../../../src/quant/scheme/scheme.js';
import { quantizeBiasAtOwnScale } from '../../../../src/quant/weights/biases.js';
import { computeWeightQParams, quantizeWeight } from '../../../../src/quant/weights/weights.js';
import { decodeRawTensor, encodeRawTensor } from '../../../../src/tensor/raw-tensor.js';
import { makeTensor } from '../../../../src/tensor/tensor.js';
import { rangesOf, smallGraph } from '../small-graph.js';

const INT8 = { dtype: 'int8', symmetric: true, reduceRange: false } as const;
const MIN_MSE: WeightRangeMethod = { kind: 'power-of-two', position: { kind: 'min-mse', first: -1, last: 3 } };

/** Sums of uniform numbers with outliers, so that the best scale is not that of the largest element. */
function weights(seed: number, outlier: number): Float32Array {
  let state = seed;
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 31 - 1;
  };
  return Float32Array.from({ length: 500 }, (_, i) => (i === 7 ? outlier : (next() + next() + next()) / 10));
}

function errorAt(data: Float32Array, qparams: QParams): number {
  const tensor = { dtype: 'int8', axis: undefined, slices: [qparams] } as const;
  const restored = dequantizeLinear(quantizeLinear(data, [data.length], tensor), [data.length], tensor);
  return data.reduce((sum, x, i) => sum + (x - (restored[i] ?? 0)) ** 2, 0);
}

const constant = (data: Float32Array) => encodeRawTensor(makeTensor('float32', [data.length], data));

describe('weights with the smallest squared error', () => {
  it.each([
    [1, 0.2, undefined],
    [2, 0.9, undefined],
    [4, -30, undefined],
    [5, 0.9, 4],
    [6, 0.5, 3],
  ])('seed %p with an element of %p, in %p bits: no other of 100 factors has a smaller one', (seed, outlier, bits) => {
    const data = weights(seed, outlier);
    const scheme = { ...INT8, ...(bits === undefined ? {} : { bits }) };
    const [slice] = computeWeightQParams(constant(data), {
      scheme,
      method: { kind: 'mse', candidates: 100 },
      axis: undefined,
      name: 'w',
    }).slices;
    const most = bits === undefined ? 127 : 2 ** (bits - 1) - 1;
    const largest = data.reduce((top, x) => Math.max(top, Math.abs(x)), 0);
    const lowest = bits === undefined ? -128 : -most;
    const errors = Array.from({ length: 100 }, (_, k) => {
      const scale = Math.fround((Math.fround((largest * (100 - k)) / 100) * 2) / (2 * most));
      return data.reduce((sum, x) => sum + (x - Math.min(most, Math.max(lowest, roundHalfEven(Math.fround(x / scale)))) * scale) ** 2, 0);
    });
    const best = errors.indexOf(Math.min(...errors));
    expect(slice?.zeroPoint).toBe(0);
    expect(slice?.scale).toBeCloseTo((largest * (100 - best)) / 100 / most, 6);
  });

  /** The position with the least error of the five around the nearest one, the smallest where errors are equal. */
  function bestPosition(data: Float32Array): number {
    const largest = data.reduce((top, x) => Math.max(top, Math.abs(x)), 0);
    const nearest = -Math.round(Math.log2((2 * largest) / 254));
    const tried = [-1, 0, 1, 2, 3].map(offset => nearest + offset);
    const errors = tried.map(position => errorAt(data, { scale: 2 ** -position, zeroPoint: 0 }));
    return tried[errors.indexOf(Math.min(...errors))] ?? 0;
  }

  const positionOf = (data: Float32Array): number | undefined => {
    const [slice] = computeWeightQParams(constant(data), { scheme: INT8, method: MIN_MSE, axis: undefined, name: 'w' }).slices;
    return findPosition(slice?.scale ?? 0);
  };

  it.each([
    ['small elements first', 1],
    ['small elements last', -1],
  ])('of powers of two, the best one is found over many blocks of elements: %s', (_, order) => {
    // The error of the first blocks favors another position than that of all.
    const sorted = Float32Array.from({ length: 200_000 }, (_, i) => Math.sin(i) * (i / 200_000) ** 6);
    const data = order === 1 ? sorted : sorted.reverse();
    expect(positionOf(data)).toBe(bestPosition(data));
  });

  it('of powers of two with equal errors, the largest scale is kept', () => {
    const data = Float32Array.from({ length: 150_000 }, (_, i) => ((i % 31) - 15) / 2);
    expect(errorAt(data, { scale: 0.5, zeroPoint: 0 })).toBe(0);
    expect(positionOf(data)).toBe(bestPosition(data));
  });

  it('weights of 4 bits lie in −7 … 7, also at a scale that is too small for them', () => {
    const data = weights(3, 3.1);
    const scheme = { ...INT8, bits: 4 } as const;
    for (const method of [{ kind: 'min-max' }, { kind: 'mse', candidates: 100 }, MIN_MSE] as const) {
      const qparams = computeWeightQParams(constant(data), { scheme, method, axis: undefined, name: 'w' });
      const { integers, sqnrDb } = quantizeWeight(constant(data), qparams, saturationRange(scheme));
      const values = Array.from(decodeRawTensor(integers).data as ArrayLike<number>, Number);
      expect([Math.min(...values) >= -7, Math.max(...values)]).toEqual([true, 7]);
      const scale = qparams.slices[0]?.scale ?? 0;
      const noise = data.reduce((sum, x, i) => sum + (x - (values[i] ?? 0) * scale) ** 2, 0);
      const signal = data.reduce((sum, x) => sum + x * x, 0);
      expect(sqnrDb).toBeCloseTo(10 * Math.log10(signal / noise), 3);
    }
  });
});

describe('power-of-two weights', () => {
  it.each([
    [1, 0.2],
    [2, 0.9],
    [3, 3.1],
    [4, -30],
  ])('seed %p with an element of %p: no power of two has a smaller squared error', (seed, outlier) => {
    const data = weights(seed, outlier);
    const [slice] = computeWeightQParams(constant(data), { scheme: INT8, method: MIN_MSE, axis: undefined, name: 'w' }).slices;
    const errors = Array.from({ length: 24 }, (_, i) => errorAt(data, { scale: 2 ** (4 - i), zeroPoint: 0 }));
    const best = errors.indexOf(Math.min(...errors));
    // Candidates reach three positions beyond the nearest of the largest element, which is enough for all these outliers.
    expect(slice).toEqual({ scale: 2 ** (4 - best), zeroPoint: 0 });
  });

  it('per-channel: each slice on its own', () => {
    const [a, b] = [weights(1, 0.2), weights(2, 0.9).map(x => x * 40)];
    const both = encodeRawTensor(makeTensor('float32', [2, 500], Float32Array.from([...a, ...b])));
    const request = { scheme: INT8, method: MIN_MSE, name: 'w' };
    const { slices } = computeWeightQParams(both, { ...request, axis: 0 });
    expect(slices).toEqual([a, b].map(data => computeWeightQParams(constant(data), { ...request, axis: undefined }).slices[0]));
  });

  it.each([
    ['nearest', 0.75, 2 ** -7],
    ['nearest', 0.7, 2 ** -8],
    ['up', 0.7, 2 ** -7],
    ['up', 127 / 128, 2 ** -7],
  ] as const)('non-overflow, rounded %s: ±%p becomes scale %p', (rounding, limit, scale) => {
    const method: WeightRangeMethod = { kind: 'power-of-two', position: { kind: 'non-overflow', of: { kind: 'min-max' }, rounding } };
    const found = computeWeightQParams(constant(Float32Array.from([limit, -0.1])), { scheme: INT8, method, axis: undefined, name: 'w' });
    expect(found.slices).toEqual([{ scale, zeroPoint: 0 }]);
  });

  it('an all-zero weight has scale 1', () => {
    const found = computeWeightQParams(constant(new Float32Array(4)), { scheme: INT8, method: MIN_MSE, axis: undefined, name: 'w' });
    expect(found.slices).toEqual([{ scale: 1, zeroPoint: 0 }]);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])('an element %p is refused with the name of the weight', x => {
    const small = smallGraph();
    small.input('image', [1, 1, 1, 1]);
    small.floats('conv.w', [2, 1, 1, 1], [1, x]);
    small.node('Conv image conv.w -> y');
    small.output('y');
    for (const scheme of [PRESETS.u8s8, PRESETS.xint8]) {
      const request = { scheme, observations: rangesOf(small.model, { low: -1, high: 1 }), excluded: new Set<NodeId>() };
      expect(() => planQuantization(small.model.graph, request)).toThrow(
        expect.objectContaining({ code: 'bad-range', message: `weight "conv.w": element 1 is ${x}` }),
      );
    }
  });
});

describe('biases with their own scale', () => {
  it.each(['int8', 'int16', 'int32'] as const)('%s: a power of two at which every element is within half a step', dtype => {
    const data = weights(5, 0.3).slice(0, 64);
    const { scales, saturated, sqnrDb, integers } = quantizeBiasAtOwnScale(constant(data), dtype);
    expect(findPosition(scales[0] ?? 0)).toBeDefined();
    expect([scales.length, saturated, integers.dtype]).toEqual([1, 0, dtype]);
    expect(sqnrDb).toBeGreaterThan(dtype === 'int8' ? 35 : 80);
  });

  it('int8 has the smallest squared error of all powers of two', () => {
    const data = weights(6, 2.2);
    const errors = Array.from({ length: 24 }, (_, i) => errorAt(data, { scale: 2 ** (4 - i), zeroPoint: 0 }));
    expect(quantizeBiasAtOwnScale(constant(data), 'int8').scales).toEqual([2 ** (4 - errors.indexOf(Math.min(...errors)))]);
  });
});
