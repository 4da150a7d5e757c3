/** The QuantizeLinear kernel equals the plain code. */
import fc from 'fast-check';
import type { QParams } from '../../../../src/quant/integers/qparams.js';
import { constantPlace, measureGroups, quantizeAndMeasureGroups, quantizeGroups } from '../../../../src/quant/integers/quantize-kernel.js';
import { type QuantizedDType, storageRange } from '../../../../src/quant/integers/quantized-dtype.js';
import { saturate } from '../../../../src/quant/integers/rounding.js';
import { findExtremes, measureNoise, measureSignalAndNoise } from '../../../../src/quant/integers/signal-noise.js';

const SCALES = fc.oneof(
  fc.double({ min: 1e-30, max: 1e30, noNaN: true }).map(Math.fround),
  fc.constantFrom(0.5, 2 ** -7, 2 ** -126, 1 / 3),
);
const value = fc.oneof(
  fc.float({ noNaN: true }),
  fc.integer({ min: -300, max: 300 }).map(i => i / 2),
  fc.constantFrom(0, -0, Number.NaN, 2 ** -149),
);
const values = fc
  .array(value, { minLength: 16, maxLength: 200 })
  .map(all => Float32Array.from(all.slice(0, all.length - (all.length % 16))));
const step = (x: number, { scale, zeroPoint }: QParams, dtype: QuantizedDType): number => {
  const { low, high } = storageRange(dtype);
  return saturate(Math.fround(x / scale), low - zeroPoint, high - zeroPoint);
};

describe('the QuantizeLinear kernel', () => {
  it.each([
    ['int8', 0],
    ['int8', -128],
    ['int8', 37],
    ['uint8', 0],
    ['uint8', 128],
    ['uint8', 255],
  ] as const)('gives the integers of the plain code: %s around %p', (dtype, zeroPoint) => {
    fc.assert(
      fc.property(values, SCALES, (x, scale) => {
        const y = dtype === 'int8' ? new Int8Array(x.length) : new Uint8Array(x.length);
        quantizeGroups(x, y, { scale, zeroPoint }, storageRange(dtype));
        expect([...y]).toEqual([...x].map(one => step(one, { scale, zeroPoint }, dtype) + zeroPoint));
      }),
    );
  });

  it('measures signal and noise to 1e-12 of a sequential sum', () => {
    const finite = fc.array(fc.float({ noNaN: true, min: -40, max: 40 }), { minLength: 4, maxLength: 100 });
    fc.assert(
      fc.property(
        finite,
        fc.constantFrom(0.5, 1 / 3, 0.01),
        fc.constantFrom<QuantizedDType>('int8', 'uint8', 'int16'),
        (all, scale, dtype) => {
          const x = Float32Array.from(all.slice(0, all.length - (all.length % 4)));
          const qparams = { scale: Math.fround(scale), zeroPoint: dtype === 'uint8' ? 100 : 0 };
          const loss = measureGroups(x, qparams, storageRange(dtype));
          const noise = x.reduce((sum, one) => sum + (one - Math.fround(step(one, qparams, dtype) * qparams.scale)) ** 2, 0);
          const signal = x.reduce((sum, one) => sum + one * one, 0);
          expect(Math.abs(loss.noise - noise)).toBeLessThanOrEqual(1e-12 * noise);
          expect(Math.abs(loss.signal - signal)).toBeLessThanOrEqual(1e-12 * signal);
        },
      ),
    );
  });

  it('processes more elements than its memory holds', () => {
    const x = Float32Array.from({ length: 100_000 }, (_, i) => Math.sin(i));
    const y = new Int8Array(x.length);
    quantizeGroups(x, y, { scale: 1 / 64, zeroPoint: 3 }, storageRange('int8'));
    expect(y.every((one, i) => one === step(x[i] ?? 0, { scale: 1 / 64, zeroPoint: 3 }, 'int8') + 3)).toBe(true);
  });
});

describe('elements in the memory of the kernel', () => {
  it('give the integers, sums and extremes of elements elsewhere', () => {
    const x = Float32Array.from({ length: 70_004 }, (_, i) => Math.sin(i) * (i % 7));
    const place = constantPlace().subarray(0, x.length);
    place.set(x);
    const qparams = { scale: 1 / 32, zeroPoint: 3 };
    const both = [x, place].map(data => {
      const integers = new Int8Array(data.length);
      return {
        loss: quantizeAndMeasureGroups(data, integers, qparams, storageRange('int8')),
        integers,
        noise: measureNoise(data, qparams, storageRange('int8'), 6),
        extremes: findExtremes(data),
      };
    });
    expect(both[1]).toEqual(both[0]);
    expect([...place]).toEqual([...x]);
  });
});

describe('the noise of a power of two as scale', () => {
  it('has the bits of the noise with the signal, wherever elements saturate', () => {
    const exponent = fc.integer({ min: -126, max: 20 });
    const sized = fc.oneof(fc.double({ min: -300, max: 300, noNaN: true }), fc.double({ min: -(2 ** 24), max: 2 ** 24, noNaN: true }));
    fc.assert(
      fc.property(
        fc.array(sized, { minLength: 64, maxLength: 200 }),
        exponent,
        fc.constantFrom<QuantizedDType>('int8', 'uint8', 'int16'),
        (all, power, dtype) => {
          const scale = 2 ** power;
          // In units of the scale, with mantissas that are longer than those of multiples of it; no more than float32 holds.
          const x = Float32Array.from(all, one => one * scale);
          const qparams = { scale, zeroPoint: dtype === 'uint8' ? 128 : 0 };
          const largest = x.reduce((most, one) => Math.max(most, Math.abs(one)), 0);
          const limits = storageRange(dtype);
          expect(measureNoise(x, qparams, limits, largest)).toBe(measureSignalAndNoise(x, qparams, limits).noise);
        },
      ),
    );
  });

  it('is that of any other scale where it is none', () => {
    const x = Float32Array.from({ length: 101 }, (_, i) => Math.cos(i));
    const qparams = { scale: Math.fround(1 / 100), zeroPoint: 0 };
    expect(measureNoise(x, qparams, storageRange('int8'), 1)).toBe(measureSignalAndNoise(x, qparams, storageRange('int8')).noise);
  });
});

describe('extremes', () => {
  it('are those of a loop, and none where an element is not finite', () => {
    const any = fc.oneof(fc.float({ noNaN: true, noDefaultInfinity: true }), fc.constantFrom(0, -0, 2 ** -149, -(2 ** -149)));
    const broken = fc.constantFrom(Number.NaN, -Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY);
    fc.assert(
      fc.property(fc.array(any, { minLength: 1, maxLength: 150 }), fc.option(broken), fc.nat(), (all, one, at) => {
        const x = Float32Array.from(all);
        if (one !== null) x[at % x.length] = one;
        const expected = one === null ? { low: Math.min(...x) + 0, high: Math.max(...x) + 0 } : undefined;
        expect(findExtremes(x)).toEqual(expected);
      }),
    );
  });
});
