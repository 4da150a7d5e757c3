/** Quantizing and measuring in one pass equals doing one after the other, bit by bit. */
import fc from 'fast-check';
import { quantizeLinear, quantizeMeasured } from '../../../../src/quant/integers/quantize-linear.js';
import type { QuantizedDType } from '../../../../src/quant/integers/quantized-dtype.js';
import { measureSignalAndNoise } from '../../../../src/quant/integers/signal-noise.js';

const element = fc.float({ min: -40, max: 40, noNaN: true });
const types = fc.constantFrom<QuantizedDType>('int8', 'uint8', 'int16', 'uint16');

describe('quantizeMeasured', () => {
  it('gives the integers of quantizeLinear, saturated, and the loss of each run in memory order', () => {
    const sizes = fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 150 }));
    fc.assert(
      fc.property(
        sizes.chain(dims =>
          fc.tuple(
            fc.constant(dims),
            fc.array(element, { minLength: dims[0] * dims[1] * dims[2], maxLength: dims[0] * dims[1] * dims[2] }),
          ),
        ),
        types,
        fc.constantFrom(undefined, 0, 1),
        fc.constantFrom(0, 1, 5),
        ([dims, all], dtype, axis, cut) => {
          const x = Float32Array.from(all);
          const signed = dtype.startsWith('int');
          const count = axis === undefined ? 1 : (dims[axis] ?? 0);
          const slices = Array.from({ length: count }, (_, i) => ({ scale: Math.fround(0.3 / (i + 1)), zeroPoint: signed ? 0 : 100 + i }));
          const limits = signed ? { low: -127 + cut, high: 127 - cut } : { low: cut, high: 255 - cut };
          const qparams = { dtype, axis, slices };
          const { integers, losses } = quantizeMeasured(x, dims, qparams, limits);
          const whole = quantizeLinear(x, dims, qparams);
          expect([...integers]).toEqual([...whole].map(one => Math.min(limits.high, Math.max(limits.low, one))));
          const inner = axis === undefined ? x.length : dims.slice(axis + 1).reduce((product, dim) => product * dim, 1);
          const expected = Array.from({ length: x.length / inner }, (_, run) =>
            measureSignalAndNoise(x.subarray(run * inner, (run + 1) * inner), slices[run % count] ?? { scale: 1, zeroPoint: 0 }, limits),
          );
          expect(losses).toEqual(expected);
        },
      ),
    );
  });

  it('processes more elements than the memory of its kernel holds', () => {
    const x = Float32Array.from({ length: 100_003 }, (_, i) => Math.sin(i));
    const qparams = { dtype: 'int8', axis: undefined, slices: [{ scale: 1 / 100, zeroPoint: 3 }] } as const;
    const limits = { low: -128, high: 127 };
    const { integers, losses } = quantizeMeasured(x, [x.length], qparams, limits);
    expect(integers).toEqual(quantizeLinear(x, [x.length], qparams));
    expect(losses).toEqual([measureSignalAndNoise(x, qparams.slices[0], limits)]);
  });
});
