/** Models that are exact in float give the same bits for every way in which ONNX Runtime computes them. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import type { Model } from '../../../../src/onnx/ir/model.js';
import { encodeModel } from '../../../../src/onnx/serde/encode-model.js';
import { writeModel } from '../../../../src/onnx/serde/model-file.js';
import { parseModelText } from '../../../../src/onnx/text/parse-text.js';
import { isExactInFloat } from '../../../../src/quant/exact/exact-in-float.js';
import { openExact } from '../../../../src/quant/exact/open-exact.js';
import { PRESETS } from '../../../../src/quant/scheme/scheme.js';
import { openSession, type SessionOptions, sessionManifest } from '../../../../src/runtime/session/session.js';
import { makeTensor, type Tensor } from '../../../../src/tensor/tensor.js';
import { quantizeOn } from '../../../support/quantize-small.js';
import { CNN_DIMS, randomCnn } from '../../../support/random-cnn.js';

const noise = (seed: number): Record<string, Tensor> => ({
  x: makeTensor(
    'float32',
    [...CNN_DIMS],
    Float32Array.from({ length: 144 }, (_, i) => Math.sin(i * 12.9898 + seed) * 2.5),
  ),
});

async function bitsOf(model: Uint8Array, options: SessionOptions, seed: number): Promise<readonly string[]> {
  const session = await openSession(model, options);
  try {
    const outputs = await session.run(noise(seed));
    return Object.entries(outputs).map(([name, { data }]) => `${name} ${Buffer.from((data as Float32Array).buffer).toString('hex')}`);
  } finally {
    await session.close();
  }
}

it('fused or in float, every optimization level gives the same bits', async () => {
  let exact = 0;
  await fc.assert(
    fc.asyncProperty(randomCnn, fc.nat(1000), async (model, seed) => {
      const quantized = await quantizeOn(model, noise(0), PRESETS.xint8);
      if (!isExactInFloat(quantized)) return;
      exact++;
      const bytes = encodeModel(quantized);
      const expected = await bitsOf(bytes, { optimization: 'disabled' }, seed);
      expect(await bitsOf(bytes, { optimization: 'all' }, seed)).toEqual(expected);
      expect(await bitsOf(bytes, { optimization: 'all', quantized: 'float' }, seed)).toEqual(expected);
    }),
    { numRuns: 60 },
  );
  // Of 60 networks some 11 are exact; fewer than 2 in one run of 10,000.
  expect(exact).toBeGreaterThan(1);
});

interface Layer {
  readonly scale?: number;
  readonly weight?: number;
  readonly biasType?: 'int8' | 'int32';
  readonly channels?: number;
  readonly between?: string;
}

/** One Conv between DequantizeLinear and QuantizeLinear, followed by `between`. */
function oneLayer({ scale = 0.5, weight = 100, biasType = 'int8', channels = 1, between = 'f = Relu(c)' }: Layer = {}): Model {
  const weights = Array.from({ length: channels }, () => weight);
  return parseModelText(`agraph (float[1, ${channels}, 4, 4] x) => (float y) <float s = {${scale}}, int8 z = {0}, float ws = {0.25}, int8[1, ${channels}, 1, 1] w = {${weights.join(', ')}}, float bs = {0.125}, ${biasType}[1] b = {7}> {
    q = QuantizeLinear(x, s, z)
    d = DequantizeLinear(q, s, z)
    wd = DequantizeLinear(w, ws)
    bd = DequantizeLinear(b, bs)
    c = Conv(d, wd, bd)
    ${between}
    p = QuantizeLinear(f, s, z)
    y = DequantizeLinear(p, s, z)
  }`);
}

it.each([
  ['power-of-two scales, a small sum and an int8 bias', {}, true],
  ['a scale that is not a power of two', { scale: 0.3 }, false],
  ['scales whose products underflow float32', { scale: 2 ** -100 }, false],
  ['sums that can reach 2²⁴', { channels: 2000 }, false],
  ['an int32 bias, with which ONNX Runtime has an integer kernel', { biasType: 'int32' }, false],
  ['an average, which divides', { between: 'f = GlobalAveragePool(c)' }, false],
  ['a sigmoid', { between: 'f = Sigmoid(c)' }, false],
  ['a linear Resize', { between: 'e = Relu(c)  f = Resize<mode = "linear">(e, , s4)' }, false],
] as const)('%s', (_, layer, exact) => {
  expect(isExactInFloat(oneLayer(layer))).toBe(exact);
});

it('a layer on values that are not quantized is not exact', () => {
  expect(isExactInFloat(parseModelText('agraph (float[1, 1, 4, 4] x, float[1, 1, 1, 1] w) => (float y) { y = Conv(x, w) }'))).toBe(false);
});

it('openExact runs an exact model in float with the bits of openSession', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'exact-'));
  try {
    const path = join(folder, 'model.onnx');
    await writeModel(path, oneLayer());
    const feeds = {
      x: makeTensor(
        'float32',
        [1, 1, 4, 4],
        Float32Array.from({ length: 16 }, (_, i) => i - 8),
      ),
    };
    const results = [];
    for (const open of [openSession, openExact]) {
      const session = await open(path, { optimization: 'all' });
      results.push(await session.run(feeds));
      await session.close();
    }
    expect(results[1]).toEqual(results[0]);
    await expect(openExact(join(folder, 'missing.onnx'), { optimization: 'all' })).rejects.toMatchObject({ code: 'model-load' });
  } finally {
    await rm(folder, { recursive: true });
  }
});

it('the session manifest states whether it runs in float', () => {
  expect(sessionManifest({ optimization: 'all', quantized: 'float' })).toMatchObject({ quantized: 'float' });
  expect(sessionManifest({ optimization: 'all' })).not.toHaveProperty('quantized');
});
