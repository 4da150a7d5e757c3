/** Accumulator bounds against enumeration of small cases and sums of random inputs: reached by the worst input, never exceeded. */
import fc from 'fast-check';
import { parseModelText } from '../../../../src/onnx/text/parse-text.js';
import { boundAccumulators } from '../../../../src/quant/exact/accumulator-bounds.js';
import type { AccumulatorBound } from '../../../../src/quant/exact/accumulator-schema.js';

interface Layer {
  readonly node: string;
  readonly x: { readonly dtype: 'int8' | 'uint8' | 'int16'; readonly dims: string; readonly scale: number; readonly zeroPoint: number };
  readonly w: { readonly dims: string; readonly scales: readonly number[]; readonly values: readonly number[]; readonly axis?: number };
  readonly bias?: { readonly scales: readonly number[]; readonly values: readonly number[] };
}

const listed = (values: readonly number[]): string => `{${values.join(', ')}}`;
const shape = (values: readonly number[]): string => (values.length === 1 ? '' : `${values.length}`);

/** `node` computes y from xd, wd and, if there is a bias, bd. */
function boundOf({ node, x, w, bias }: Layer): AccumulatorBound | undefined {
  const constants = [
    `float[] xs = {${x.scale}}`,
    `${x.dtype}[] xz = {${x.zeroPoint}}`,
    `float[${shape(w.scales)}] ws = ${listed(w.scales)}`,
    `int8[${w.dims}] w = ${listed(w.values)}`,
    ...(bias === undefined
      ? []
      : [`float[${shape(bias.scales)}] bs = ${listed(bias.scales)}`, `int32[${bias.values.length}] b = ${listed(bias.values)}`]),
  ];
  const model =
    parseModelText(`agraph (${x.dtype}[${x.dims}] x) => (float y) <${constants.join(', ').replaceAll('float[] ', 'float ').replaceAll(`${x.dtype}[] `, `${x.dtype} `)}> {
    xd = DequantizeLinear(x, xs, xz)
    wd = DequantizeLinear<axis = ${w.axis ?? 0}>(w, ws)
    ${bias === undefined ? '' : 'bd = DequantizeLinear<axis = 0>(b, bs)'}
    [layer] y = ${node}
  }`);
  return boundAccumulators(model)[0];
}

/** Largest magnitude of any partial sum: every set of terms, every extreme input. */
function enumerate(weights: readonly number[], low: number, high: number, bias: number): number {
  let most = 0;
  for (let terms = 0; terms < 2 ** weights.length; terms++) {
    for (let extremes = 0; extremes < 2 ** weights.length; extremes++) {
      let sum = 0;
      for (const [i, w] of weights.entries()) if ((terms >> i) & 1) sum += w * ((extremes >> i) & 1 ? high : low);
      most = Math.max(most, Math.abs(sum), Math.abs(sum + bias));
    }
  }
  return most;
}

const weight = fc.integer({ min: -128, max: 127 });

describe('the bound of a Conv', () => {
  it('is the largest possible partial sum', () => {
    fc.assert(
      fc.property(
        fc.array(weight, { minLength: 4, maxLength: 4 }),
        fc.integer({ min: 0, max: 255 }),
        fc.integer({ min: -5000, max: 5000 }),
        (values, zeroPoint, bias) => {
          const found = boundOf({
            node: 'Conv(xd, wd, bd)',
            x: { dtype: 'uint8', dims: '1, 4, 1, 1', scale: 0.5, zeroPoint },
            w: { dims: '1, 4, 1, 1', scales: [0.25], values },
            bias: { scales: [0.125], values: [bias] },
          });
          expect(found?.bound).toBe(enumerate(values, -zeroPoint, 255 - zeroPoint, bias));
          expect(found?.unit).toBe(0.125);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('uses units of the bias if its scale is smaller', () => {
    const layer: Layer = {
      node: 'Conv(xd, wd, bd)',
      x: { dtype: 'int8', dims: '1, 1, 1, 1', scale: 0.5, zeroPoint: 0 },
      w: { dims: '1, 1, 1, 1', scales: [0.5], values: [100] },
      bias: { scales: [2 ** -12], values: [-7] },
    };
    // 128 · 100 · 2⁻² in units of 2⁻¹², plus the bias.
    expect(boundOf(layer)).toMatchObject({ bound: 12800 * 1024 + 7, unit: 2 ** -12, exactInFloat: true });
    expect(boundOf({ ...layer, bias: { scales: [2 ** -13], values: [7] } })).toMatchObject({
      exactInFloat: false,
      reason: 'a sum can reach 2²⁴',
    });
  });

  it('is that of the widest channel, with the scale of that channel', () => {
    const found = boundOf({
      node: 'Conv(xd, wd)',
      x: { dtype: 'int8', dims: '1, 2, 1, 1', scale: 1, zeroPoint: 0 },
      w: { dims: '3, 2, 1, 1', scales: [1, 0.5, 0.25], values: [1, 2, 100, -100, 5, 5] },
    });
    // 100 · 127 and 100 · 128 are never added: one comes from the positive terms, the other from the negative ones.
    expect(found).toMatchObject({ bound: 100 * 128 + 100 * 127, unit: 0.5, exactInFloat: true });
  });

  it('is exact in float only if every scale is a power of two', () => {
    const layer: Layer = {
      node: 'Conv(xd, wd)',
      x: { dtype: 'int8', dims: '1, 1, 1, 1', scale: 0.1, zeroPoint: 0 },
      w: { dims: '1, 1, 1, 1', scales: [0.5], values: [1] },
    };
    expect(boundOf(layer)).toMatchObject({ bound: 128, exactInFloat: false, reason: 'a scale is not a power of two' });
  });
});

describe('the bound', () => {
  it('of a grouped ConvTranspose adds up over the inputs of each group', () => {
    // Four inputs in two groups, two outputs per group: element [i, j] adds to output 2 · group(i) + j.
    const values = [1, 10, 2, 20, 3, 30, 4, 40];
    const found = boundOf({
      node: 'ConvTranspose<group = 2>(xd, wd)',
      x: { dtype: 'uint8', dims: '1, 4, 1, 1', scale: 1, zeroPoint: 0 },
      w: { dims: '4, 2, 1, 1', scales: [1], values },
    });
    expect(found?.bound).toBe(255 * 70);
  });

  it.each([
    ['Gemm<transB = 1>(xd, wd)', '2, 3', 255 * 60],
    ['Gemm(xd, wd)', '3, 2', 255 * 90],
    ['MatMul(xd, wd)', '3, 2', 255 * 90],
  ])('of %s adds up over the inner axis', (node, dims, bound) => {
    // Rows of 60 and 6 as 2×3; columns of 90 and 23 as 3×2.
    const values = dims === '2, 3' ? [10, 20, 30, 1, 2, 3] : [10, 20, 30, 1, 50, 2];
    expect(boundOf({ node, x: { dtype: 'uint8', dims: '1, 3', scale: 1, zeroPoint: 0 }, w: { dims, scales: [1], values } })?.bound).toBe(
      bound,
    );
  });

  it('of a grouped ConvTranspose uses the scale of the output within its group', () => {
    const found = boundOf({
      node: 'ConvTranspose<group = 2>(xd, wd)',
      x: { dtype: 'uint8', dims: '1, 4, 1, 1', scale: 1, zeroPoint: 0 },
      w: { dims: '4, 2, 1, 1', scales: [0.5, 0.25], values: [1, 10, 2, 20, 3, 30, 4, 40], axis: 1 },
    });
    // The widest output is the second of the second group.
    expect(found).toMatchObject({ bound: 255 * 70, unit: 0.25, exactInFloat: true });
  });

  it('is undefined if the weight scales lie along the summed axis', () => {
    const w = { dims: '3, 2', scales: [1, 0.5, 0.25], values: [10, 20, 30, 1, 50, 2], axis: 0 };
    const found = boundOf({ node: 'MatMul(xd, wd)', x: { dtype: 'uint8', dims: '1, 3', scale: 1, zeroPoint: 0 }, w });
    expect(found).toMatchObject({ exactInFloat: false, reason: 'the weight scales are not along the output channel axis' });
    expect(found?.bound).toBeUndefined();
  });

  it('subtracts the zero points of weight and bias', () => {
    const model = parseModelText(`agraph (int8[1, 2] x) => (float y) <float xs = {1}, uint8[2, 2] w = {130, 128, 120, 129},
      float[2] ws = {1, 1}, uint8[2] wz = {128, 120}, int8[2] b = {5, 3}, float bs = {1}, int8 bz = {-100}> {
      xd = DequantizeLinear(x, xs)
      wd = DequantizeLinear<axis = 0>(w, ws, wz)
      bd = DequantizeLinear(b, bs, bz)
      y = Gemm<transB = 1>(xd, wd, bd)
    }`);
    // Rows of weights 2, 0 and 0, 9; biases of 105 and 103.
    expect(boundAccumulators(model)).toMatchObject([{ bound: 9 * 127 + 103, unit: 1 }]);
  });

  it('of products of two activations uses the length of the inner axis', () => {
    const model = parseModelText(`agraph (int8[2, 3] a, int8[3, 2] b) => (float y) <float s = {0.5}> {
      ad = DequantizeLinear(a, s)
      bd = DequantizeLinear(b, s)
      y = MatMul(ad, bd)
    }`);
    expect(boundAccumulators(model)).toMatchObject([{ node: 'y', opType: 'MatMul', bound: 3 * 128 * 128, unit: 0.25, exactInFloat: true }]);
  });

  it('of Add aligns both scales, and of Mul multiplies', () => {
    const model =
      parseModelText(`agraph (int8[2] a, uint8[2] b) => (float s, float p) <float sa = {0.5}, float sb = {0.0625}, uint8 zb = {128}> {
      ad = DequantizeLinear(a, sa)
      bd = DequantizeLinear(b, sb, zb)
      s = Add(ad, bd)
      p = Mul(ad, bd)
    }`);
    expect(boundAccumulators(model)).toMatchObject([
      { opType: 'Add', bound: 128 * 8 + 128, unit: 0.0625, exactInFloat: true },
      { opType: 'Mul', bound: 128 * 128, unit: 0.03125, exactInFloat: true },
    ]);
  });

  it('is undefined if an input is float', () => {
    const model = parseModelText(`agraph (int8[1, 1, 2, 2] x, float[1, 1, 1, 1] w) => (float y) <float s = {1}> {
      xd = DequantizeLinear(x, s)
      y = Conv(xd, w)
    }`);
    expect(boundAccumulators(model)).toMatchObject([{ exactInFloat: false, reason: 'an input is not quantized' }]);
  });
});
