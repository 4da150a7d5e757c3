/** Range methods on sketches equal the same methods on all elements. */
import fc from 'fast-check';
import { roundHalfEven } from '../../../../src/base/round-half-even.js';
import { coveredRange, type QParams } from '../../../../src/quant/integers/qparams.js';
import { type IntegerScheme, storageRange } from '../../../../src/quant/integers/quantized-dtype.js';
import { chooseQParams } from '../../../../src/quant/range/range.js';
import { NON_OVERFLOW, type Observation, QUARK_MIN_MSE, type RangeMethod } from '../../../../src/quant/range/range-method.js';
import { ownSqnr, saturationShare } from '../../../../src/quant/range/range-quality.js';
import { mergeSketches, type Sketch, sketchTensor } from '../../../../src/quant/sketch/sketch.js';

const U8: IntegerScheme = { dtype: 'uint8', symmetric: false, reduceRange: false };
const U8_MIDDLE: IntegerScheme = { dtype: 'uint8', symmetric: true, reduceRange: false };
const S8: IntegerScheme = { dtype: 'int8', symmetric: true, reduceRange: false };
const S16: IntegerScheme = { dtype: 'int16', symmetric: true, reduceRange: false };

/** Values like those of activations: near-normal with heavy tails, some clipped at zero. */
function activations(count: number, seed: number, shape: 'two-sided' | 'after-relu'): Float32Array {
  let state = seed;
  const uniform = (): number => {
    state = (state * 48271) % 2147483647;
    return state / 2147483647;
  };
  return Float32Array.from({ length: count }, () => {
    const x = Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform()) * (uniform() < 0.02 ? 4 : 1);
    return shape === 'after-relu' ? Math.max(0, x) : x;
  });
}

const seen = (sketch: Sketch): Observation => ({ kind: 'seen', name: 'x', sketch, ort: undefined });
const choose = (data: Float32Array, method: RangeMethod, integers = U8) => chooseQParams(seen(sketchTensor(data)), method, integers);

/** Quantizes element by element, as QuantizeLinear and DequantizeLinear do. */
function bruteError(data: Float32Array, { scale, zeroPoint }: QParams, { dtype }: IntegerScheme): number {
  const { low, high } = storageRange(dtype);
  return data.reduce((sum, x) => {
    const q = Math.min(Math.max(roundHalfEven(x / scale) + zeroPoint, low), high);
    return sum + (x - (q - zeroPoint) * scale) ** 2;
  }, 0);
}

function sorted(data: Float32Array, of: (x: number) => number): Float64Array {
  return Float64Array.from(data, of).sort();
}

const DATA = [
  ['two-sided', activations(20_000, 7, 'two-sided')],
  ['after-relu', activations(20_000, 11, 'after-relu')],
] as const;

describe.each(DATA)('ranges of %s values', (shape, data) => {
  const [least, greatest] = [Math.min(...data), Math.max(...data)];
  const width = 2 ** (Math.ceil(Math.log2(Math.max(-least, greatest))) - 11);

  it('min-max is the data range', () => {
    expect(choose(data, { kind: 'min-max' }).range).toEqual({ low: least, high: greatest });
  });

  it.each([1, 0.9, 0.05])('clip with share %p takes that share of the range', share => {
    expect(choose(data, { kind: 'clip', share }).range).toEqual({ low: Math.fround(least * share), high: Math.fround(greatest * share) });
  });

  // At most one element lies on the other side of a limit inside a bin of this width, so limits agree to one bin.
  it.each([50, 90, 99, 99.9, 100])('percentile %p of magnitudes equals that of the sorted data, to one bin', percentile => {
    const magnitudes = sorted(data, Math.abs);
    const limit = magnitudes[Math.max(0, Math.ceil((percentile / 100) * data.length) - 1)] ?? 0;
    const { range } = choose(data, { kind: 'percentile', percentile, sides: 'magnitude' });
    expect(Math.abs(range.high - Math.min(greatest, limit))).toBeLessThanOrEqual(width);
    expect(Math.abs(range.low - Math.max(least, -limit))).toBeLessThanOrEqual(width);
  });

  it.each([90, 99, 99.9, 100])('percentile %p of each side equals that of the sorted data, to one bin', percentile => {
    const values = sorted(data, x => x);
    const cut = ((1 - percentile / 100) / 2) * data.length;
    const { range } = choose(data, { kind: 'percentile', percentile, sides: 'each' });
    expect(Math.abs(range.low - (values[Math.max(0, Math.ceil(cut) - 1)] ?? 0))).toBeLessThanOrEqual(width);
    expect(Math.abs(range.high - (values[Math.ceil(data.length - cut) - 1] ?? 0))).toBeLessThanOrEqual(width);
  });

  it.each([
    ['uint8', U8],
    ['uint8 around 128', U8_MIDDLE],
    ['int8', S8],
  ])('mse: no smaller range of %s has a smaller error over the elements', (_name, integers) => {
    const chosen = choose(data, { kind: 'mse', candidates: 64 }, integers);
    const all = Array.from({ length: 64 }, (_, k) => {
      const range = { low: Math.fround((least * (k + 1)) / 64), high: Math.fround((greatest * (k + 1)) / 64) };
      return bruteError(data, chooseQParams({ kind: 'known', range }, { kind: 'min-max' }, integers).qparams, integers);
    });
    // With steps of at least eight bins, evenly spread elements differ from the real ones by far less than 1 %.
    expect(bruteError(data, chosen.qparams, integers)).toBeLessThanOrEqual(1.01 * Math.min(...all));
  });

  it.each([
    ['uint8 around 128', U8_MIDDLE],
    ['int8', S8],
    ['uint8', U8],
  ])('min-mse finds the position of %s with the smallest error over the elements', (_name, integers) => {
    const { qparams } = choose(data, QUARK_MIN_MSE, integers);
    const start = -Math.log2(choose(data, NON_OVERFLOW, integers).qparams.scale);
    const errors = [-1, 0, 1, 2, 3].map(offset => {
      const scale = 2 ** -(start + offset);
      const zeroPoint = integers.symmetric ? qparams.zeroPoint : Math.min(255, Math.max(0, roundHalfEven(-Math.min(least, 0) / scale)));
      return { scale, error: bruteError(data, { scale, zeroPoint }, integers) };
    });
    const best = errors.reduce((a, b) => (b.error < a.error ? b : a));
    expect(qparams.scale).toBe(best.scale);
  });

  it('SQNR equals that of the elements, to 0.05 dB at 8 and 16 bits', () => {
    for (const integers of [U8, U8_MIDDLE, S8, S16]) {
      for (const method of [{ kind: 'min-max' }, NON_OVERFLOW, { kind: 'percentile', percentile: 99, sides: 'magnitude' }] as const) {
        const { qparams } = choose(data, method, integers);
        const exact = 10 * Math.log10(data.reduce((sum, x) => sum + x * x, 0) / bruteError(data, qparams, integers));
        expect(Math.abs((ownSqnr(sketchTensor(data), qparams, integers) ?? 0) - exact)).toBeLessThan(0.05);
      }
    }
  });

  it('saturation is the share of elements more than half a step beyond the ends', () => {
    const { qparams } = choose(data, { kind: 'percentile', percentile: 99, sides: 'magnitude' }, S8);
    const covered = coveredRange(qparams, 'int8');
    const half = qparams.scale / 2;
    const beyond = data.filter(x => x < covered.low - half || x > covered.high + half).length / data.length;
    expect(Math.abs(saturationShare(sketchTensor(data), qparams, S8) - beyond)).toBeLessThan(0.001);
    expect(beyond).toBeGreaterThan(0.002);
    expect(saturationShare(sketchTensor(data), choose(data, { kind: 'min-max' }, S8).qparams, S8)).toBe(0);
    expect(shape).toBeDefined();
  });
});

describe('squared errors at power-of-two scales', () => {
  const value = fc.float({ noNaN: true, min: -100, max: 100 });

  it('differ between scales as those of the elements do, to the resolution of the means', () => {
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 60 }), fc.integer({ min: 1, max: 4 }), (values, coarser) => {
        const data = Float32Array.from(values);
        const sketch = sketchTensor(data);
        const width = 2 ** (sketch.histograms[0]?.exponent ?? 0);
        const errorOf = (scale: number): number => {
          const sqnr = ownSqnr(sketch, { scale, zeroPoint: 0 }, S16);
          const squares = data.reduce((sum, x) => sum + x * x, 0);
          return sqnr === undefined ? 0 : squares / 10 ** (sqnr / 10);
        };
        const [fine, coarse] = [2 * width, 2 * width * 2 ** coarser];
        const ours = errorOf(coarse) - errorOf(fine);
        const exact = bruteError(data, { scale: coarse, zeroPoint: 0 }, S16) - bruteError(data, { scale: fine, zeroPoint: 0 }, S16);
        // A mean is accurate to half of 1/256 bin and at most half a step away from its step; 1e-9 for the arithmetic.
        const bound = data.length * (width / 512) * (fine + coarse) + 1e-9 * data.reduce((sum, x) => sum + x * x, 0);
        expect(Math.abs(ours - exact)).toBeLessThanOrEqual(bound);
      }),
    );
  });
});

describe('power-of-two scales', () => {
  it('non-overflow chooses the nearest power of two, which may saturate, or the next larger one, which does not', () => {
    const data = Float32Array.from([-1, 1.4]);
    const up = { kind: 'power-of-two', position: { kind: 'non-overflow', of: { kind: 'min-max' }, rounding: 'up' } } as const;
    expect(choose(data, NON_OVERFLOW, S8).qparams).toEqual({ scale: 2 ** -7, zeroPoint: 0 });
    expect(choose(data, up, S8).qparams).toEqual({ scale: 2 ** -6, zeroPoint: 0 });
    expect(choose(data, up, S8).range).toEqual({ low: -2, high: 127 / 64 });
  });

  it('a known range also gets a power-of-two scale, and a range that contains only zero gets scale 1', () => {
    const softmax: Observation = { kind: 'known', range: { low: 0, high: 1 } };
    expect(chooseQParams(softmax, QUARK_MIN_MSE, U8_MIDDLE).qparams).toEqual({ scale: 2 ** -7, zeroPoint: 128 });
    expect(choose(new Float32Array(5), QUARK_MIN_MSE, S8).qparams.scale).toBe(1);
    expect(choose(new Float32Array(5), NON_OVERFLOW, S8).qparams.scale).toBe(1);
  });
});

describe('entropy', () => {
  it('keeps the whole range of evenly spread elements, and cuts off outliers', () => {
    const even = Float32Array.from({ length: 50_000 }, (_, i) => (i + 0.5) / 50_000);
    expect(choose(even, { kind: 'entropy', levels: 128 }).range.high).toBeGreaterThan(0.99);
    const lonely = Float32Array.from([...activations(50_000, 9, 'two-sided'), 300]);
    const { high } = choose(lonely, { kind: 'entropy', levels: 128 }).range;
    expect(high).toBeGreaterThan(5);
    expect(high).toBeLessThan(100);
  });

  it.each([
    ['uint8 of data with one sign', 'after-relu', U8, 256],
    ['symmetric int8', 'two-sided', S8, 128],
    ['uint8 with zero in the middle', 'after-relu', U8_MIDDLE, 128],
  ] as const)('has the levels of the integers: %s', (_, shape, integers, levels) => {
    const data = activations(30_000, 5, shape);
    expect(choose(data, { kind: 'entropy', levels: 'integers' }, integers)).toEqual(choose(data, { kind: 'entropy', levels }, integers));
  });

  it('keeps the whole range where there are more integers than bins', () => {
    const lonely = Float32Array.from([...activations(50_000, 9, 'two-sided'), 300]);
    expect(choose(lonely, { kind: 'entropy', levels: 'integers' }, S16).range.high).toBe(300);
  });

  it('finds the same limit as the definition computed term by term', () => {
    const data = activations(30_000, 3, 'two-sided');
    const { range } = choose(data, { kind: 'entropy', levels: 128 });
    const exponent = sketchTensor(data).histograms[0]?.exponent ?? 0;
    const magnitudes = new Float64Array(2048);
    for (const x of data) {
      const bin = Math.min(2047, Math.floor(Math.abs(x) / 2 ** exponent));
      if (x !== 0) magnitudes[bin] = (magnitudes[bin] ?? 0) + 1;
    }
    expect(range.high).toBe(Math.min(Math.max(...data), entropyLimit(magnitudes, 128) * 2 ** exponent));
  });
});

/** The definition in docs/numerics.md, computed directly. */
function entropyLimit(all: Float64Array, levels: number): number {
  const used = all.length - [...all].reverse().findIndex(count => count > 0);
  const total = all.reduce((sum, x) => sum + x, 0);
  let best = { limit: used, divergence: Number.POSITIVE_INFINITY };
  for (let k = levels + 8; k < used + 8; k += 8) {
    const limit = Math.min(k, used);
    const p = all.slice(0, limit);
    const inside = p.reduce((sum, x) => sum + x, 0);
    const q = new Float64Array(limit);
    let imaged = 0;
    p[limit - 1] = (p[limit - 1] ?? 0) + total - inside;
    for (let g = 0; g < levels; g++) {
      const [from, to] = [Math.floor((g * limit) / levels), Math.floor(((g + 1) * limit) / levels)];
      const own = all.slice(from, to).reduce((sum, x) => sum + x, 0);
      const mass = g === levels - 1 && own === 0 && total > inside ? 0.5 : own;
      imaged += mass;
      const filled = p.slice(from, to).filter(x => x > 0).length;
      for (let i = from; i < to; i++) if (p[i] !== 0) q[i] = mass / filled;
    }
    const divergence = p.reduce((sum, x, i) => (x === 0 ? sum : sum + (x / total) * Math.log(x / total / ((q[i] ?? 0) / imaged))), 0);
    if (divergence < best.divergence - 1e-12) best = { limit, divergence };
  }
  return best.limit;
}

describe('missing calibration data', () => {
  it.each([
    { kind: 'min-max' },
    { kind: 'entropy', levels: 128 },
    QUARK_MIN_MSE,
  ] as const)('$kind refuses a value without elements', method => {
    expect(() => choose(new Float32Array(0), method)).toThrow(expect.objectContaining({ code: 'no-elements' }));
  });

  it('the methods of onnxruntime.quantization refuse sketches without their data', () => {
    expect(() => choose(Float32Array.from([1]), { kind: 'ort-entropy', bins: 128, quantizedBins: 128 })).toThrow(
      expect.objectContaining({ code: 'no-ort-histogram' }),
    );
  });
});

describe('samples of different sizes', () => {
  it('give the choice of one tensor with all elements, to the resolution of the coarsest grid', () => {
    const [a, b] = [activations(4000, 5, 'two-sided'), activations(4000, 6, 'two-sided').map(x => x / 20)];
    const merged = mergeSketches(sketchTensor(b), sketchTensor(a));
    const whole = sketchTensor(Float32Array.from([...a, ...b]));
    for (const method of [QUARK_MIN_MSE, { kind: 'mse', candidates: 50 }, { kind: 'entropy', levels: 128 }] as const) {
      expect(chooseQParams(seen(merged), method, S8)).toEqual(chooseQParams(seen(whole), method, S8));
    }
  });
});
