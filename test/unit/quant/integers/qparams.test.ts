/** Scale and zero point, rounding, and QuantizeLinear on arrays. */
import fc from 'fast-check';
import { roundHalfEven } from '../../../../src/base/round-half-even.js';
import { computeQParams } from '../../../../src/quant/integers/qparams.js';
import { dequantizeLinear, quantizeLinear } from '../../../../src/quant/integers/quantize-linear.js';
import { storageRange } from '../../../../src/quant/integers/quantized-dtype.js';
import { saturate } from '../../../../src/quant/integers/rounding.js';

const U8 = { dtype: 'uint8', symmetric: false, reduceRange: false } as const;
const S16 = { dtype: 'int16', symmetric: false, reduceRange: false } as const;
const S8 = { dtype: 'int8', symmetric: true, reduceRange: false } as const;

describe('rounding', () => {
  it.each([
    [0.5, 0],
    [1.5, 2],
    [2.5, 2],
    [-0.5, 0],
    [-1.5, -2],
    [-2.5, -2],
    [2.4999999999999996, 2],
    [2.5000000000000004, 3],
    [2251799813685249.5, 2251799813685249.5],
  ])('%p rounds half to even to %p', (x, expected) => {
    expect(roundHalfEven(x) + 0).toBe(expected);
  });

  it('saturates, NaN to the low end', () => {
    expect([saturate(1e30, -128, 127), saturate(-1e30, -128, 127), saturate(Number.NaN, -128, 127)]).toEqual([127, -128, -128]);
  });
});

describe('scale and zero point', () => {
  // The first seven were recorded from onnxruntime.quantization 1.30 on a ResNet-20; the last three follow from the definition.
  it.each([
    [{ low: -2.1179039478302, high: 2.640000104904175 }, U8, 0.01865844801068306, 114],
    [{ low: 0, high: 5.051006317138672 }, U8, 0.01980786770582199, 0],
    [{ low: -15.249418258666992, high: 14.09173583984375 }, U8, 0.11506334692239761, 133],
    [{ low: -4.192988395690918, high: 2.629770517349243 }, S8, 0.0330156572163105, 0],
    [{ low: 0, high: 5.051006317138672 }, S8, 0.03977170214056969, 0],
    [{ low: -2.1179039478302, high: 2.640000104904175 }, S16, 7.260096026584506e-5, -3596],
    [{ low: 0, high: 5.051006317138672 }, S16, 7.707341865170747e-5, -32768],
    [{ low: 1, high: 2 }, U8, 0.007843137718737125, 0],
    [{ low: -1, high: 1 }, { ...S8, reduceRange: true }, 0.015625, 0],
    [{ low: -1, high: 1 }, { ...U8, symmetric: true }, 0.007843137718737125, 128],
  ])('%j as %j', (range, scheme, scale, zeroPoint) => {
    expect(computeQParams(range, scheme)).toEqual({ scale, zeroPoint });
  });

  it('a range that contains only zero has scale 1', () => {
    expect(computeQParams({ low: 0, high: 0 }, U8)).toEqual({ scale: 1, zeroPoint: 0 });
    expect(computeQParams({ low: 0, high: 1e-40 }, U8)).toEqual({ scale: 1, zeroPoint: 0 });
  });

  it.each([
    { low: Number.NaN, high: 1 },
    { low: 0, high: Number.POSITIVE_INFINITY },
    { low: 2, high: 1 },
  ])('%p is refused', range => {
    expect(() => computeQParams(range, U8)).toThrow(expect.objectContaining({ code: 'bad-range' }));
  });

  it('zero is exact, and every value of the range is at most half a step from its dequantized value', () => {
    const end = fc.float({ min: -1000, max: 1000, noNaN: true });
    fc.assert(
      fc.property(end, end, fc.array(fc.float({ min: 0, max: 1, noNaN: true }), { minLength: 1 }), (a, b, shares) => {
        const [low, high] = [Math.min(a, b, 0), Math.max(a, b, 0)];
        const qparams = computeQParams({ low, high }, U8);
        const data = Float32Array.from([0, ...shares.map(share => low + share * (high - low))]);
        const tensor = { dtype: 'uint8', axis: undefined, slices: [qparams] } as const;
        const restored = dequantizeLinear(quantizeLinear(data, [data.length], tensor), [data.length], tensor);
        expect(restored[0]).toBeCloseTo(0, 10);
        const step = qparams.scale;
        const { low: first, high: last } = storageRange('uint8');
        const covered = { low: (first - qparams.zeroPoint) * step, high: (last - qparams.zeroPoint) * step };
        // The zero point is rounded, so each end may lie up to half a step outside.
        for (const [i, x] of data.entries()) {
          const inside = x >= covered.low && x <= covered.high;
          expect(Math.abs((restored[i] as number) - x)).toBeLessThanOrEqual(step * (inside ? 0.5001 : 1.0001));
        }
      }),
    );
  });
});

describe('quantizeLinear', () => {
  it('quantizes each slice of the axis with its own scale', () => {
    const x = Float32Array.from([1, 2, 3, 4, 10, 20, 30, 40]);
    const qparams = {
      dtype: 'int8',
      axis: 1,
      slices: [
        { scale: 1, zeroPoint: 0 },
        { scale: 2, zeroPoint: 1 },
      ],
    } as const;
    expect([...quantizeLinear(x, [2, 2, 2], qparams)]).toEqual([1, 2, 3, 3, 10, 20, 16, 21]);
  });

  it('a number of scales that differs from the axis size is refused', () => {
    const qparams = { dtype: 'int8', axis: 0, slices: [{ scale: 1, zeroPoint: 0 }] } as const;
    expect(() => quantizeLinear(new Float32Array(4), [2, 2], qparams)).toThrow(expect.objectContaining({ code: 'qparams-length' }));
  });
});
