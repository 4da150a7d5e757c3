/** The sessions of a layer, and those that sum it up: released also if a sample cannot be read. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import ort from 'onnxruntime-node';
import { openWeightRounder, pairLayersWithWeight } from '../../../../../src/quant/recovery/rounding/round-weights.js';
import { PRESETS } from '../../../../../src/quant/scheme/scheme.js';
import { quantizeOn } from '../../../../support/quantize-small.js';
import { randomConstants, randomFloats, smallModel } from '../../../../support/small-model.js';

it('all sessions are released if a later sample fails', async () => {
  const float = smallModel({
    inputs: { x: ['float32', [4, 6]] },
    constants: randomConstants({ w: [6, 3], b: [3] }),
    nodes: [{ op: 'Gemm', name: 'gemm', in: ['x', 'w', 'b'], out: ['y'] }],
    outputs: ['y'],
  });
  const x = randomFloats([4, 6], 1);
  const quantized = await quantizeOn(float, { x }, PRESETS.u8s8);
  const { layers } = pairLayersWithWeight(float, quantized);
  expect(layers).toHaveLength(1);
  const feeds = [async () => ({ x }), () => Promise.reject(new Error('the second sample'))];
  const folder = await mkdtemp(join(tmpdir(), 'tanren-rounding-'));
  const create = jest.spyOn(ort.InferenceSession, 'create');
  try {
    const settings = { method: 'gptq', damping: 0.01, iterations: 10 } as const;
    const request = { float, quantized, layers, samples: { float: feeds, quantized: feeds }, folder };
    const rounder = await openWeightRounder(request, settings);
    await expect(rounder.round()).rejects.toThrow('the second sample');
    const isOfSums = (model: unknown): boolean => Buffer.from(model as Uint8Array).includes('products');
    const opened = create.mock.results.filter((_, call) => isOfSums(create.mock.calls[call]?.[0]));
    expect(opened).toHaveLength(1);
    // The layer in each model, and its sums.
    expect(create.mock.results.length).toBeGreaterThanOrEqual(3);
    for (const { value } of create.mock.results)
      await expect(((await value) as ort.InferenceSession).release()).rejects.toThrow('already disposed');
  } finally {
    create.mockRestore();
    await rm(folder, { recursive: true });
  }
});
