/** `verify` with `values: all` of larger models: a second thread compares inner values, and the report is that of one thread. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '../../../src/base/json.js';
import { readModel, writeModel } from '../../../src/onnx/serde/model-file.js';
import { openValueComparer } from '../../../src/quant/compare/compare-values.js';
import { readJsonFile } from '../../../src/stage/json-file.js';
import { encodeNpy } from '../../../src/tensor/formats/npy.js';
import { makeTensor, type Tensor } from '../../../src/tensor/tensor.js';
import { newClaim, takeClaim } from '../../../stages/verify/claim.js';
import { isWorthThread, openValuesThread } from '../../../stages/verify/open-values-thread.js';
import { verify } from '../../../stages/verify/stage.js';
import { openValueErrors } from '../../../stages/verify/value-errors.js';
import { failureOf } from '../../support/error-code.js';
import { givenFolder, parseParams, runStage } from '../../support/run-stage.js';
import { smallGraph } from '../quant/small-graph.js';

/** 1.4 MB of weights. */
const SIZE = 600;
const [SAMPLES, ANY] = [5, { minSqnrDb: -998 }] as const;

/** Three layers of one weight. */
function layers(shift: number, size = SIZE) {
  const small = smallGraph();
  small.input('x', [3, size]);
  const floats = new Float32Array(size * size);
  for (let i = 0; i < floats.length; i++) floats[i] = ((i * 7919) % 257) / 4096 - 1 / 32 + shift * (i % 5);
  small.floats('w', [size, size], floats);
  small.node('MatMul x w -> a');
  small.node('Tanh a -> b');
  small.node('MatMul b w -> c');
  small.node('Relu c -> y');
  small.output('y');
  return small.model;
}

describe('verify, inner values of larger models', () => {
  const folder = givenFolder('verify-values-thread');
  const path = (name: string): string => join(folder.path, name);
  const samples: Tensor[] = [];

  beforeAll(async () => {
    await writeModel(path('reference.onnx'), layers(0));
    await writeModel(path('candidate.onnx'), layers(1e-4));
    await mkdir(path('tensors'));
    for (let sample = 0; sample < SAMPLES; sample++) {
      const x = Float32Array.from({ length: 3 * SIZE }, (_, i) => Math.sin(i * (sample + 1)) * 10 ** (sample - 2));
      samples.push(makeTensor('float32', [3, SIZE], x));
      await writeFile(path(`tensors/${sample}.npy`), encodeNpy(makeTensor('float32', [3, SIZE], x)));
    }
  });

  it('have the errors that one thread finds, bit for bit', async () => {
    const sides = { reference: path('reference.onnx'), candidate: path('candidate.onnx') };
    expect(isWorthThread(sides, SAMPLES, 2)).toBe(true);
    const { outputs } = await runStage(verify, {
      params: { reference: 'model', candidate: 'model', samples: SAMPLES, values: 'all', thresholds: ANY },
      inputs: { ...sides, tensors: path('tensors') },
      folder: folder.path,
    });
    const comparer = openValueComparer(await readModel(path('reference.onnx')), await readModel(path('candidate.onnx')), {
      budgetBytes: 1 << 20,
      freeDim: 1,
    });
    for (const x of samples) await comparer.compare({ x });
    const expected = comparer.conclude('model');
    await comparer.close();
    expect(expected.values.map(({ value }) => value)).toEqual(['x', 'a', 'b', 'c', 'y']);
    expect((await readJsonFile(outputs.report ?? '')) as JsonObject).toMatchObject({ propagated: [expected] });
  });

  it('in the thread, errors keep their codes', async () => {
    const thread = openValuesThread();
    const models = { reference: path('reference.onnx'), candidate: path('missing.onnx') };
    const failure = await failureOf(() => thread.compare({ models, feeds: {}, claim: newClaim() }));
    const own = await failureOf(() => readModel(path('missing.onnx')));
    await thread.close();
    expect(failure).toEqual(own);
    expect(await failureOf(() => thread.compare({ models, feeds: {}, claim: newClaim() }))).toMatchObject({ code: 'thread-ended' });
  });

  it('what this thread has claimed is not compared in the second one', async () => {
    const thread = openValuesThread();
    const claim = newClaim();
    expect([takeClaim(claim), takeClaim(claim)]).toEqual([true, false]);
    const models = { reference: path('reference.onnx'), candidate: path('missing.onnx') };
    expect(await thread.compare({ models, feeds: {}, claim })).toBeUndefined();
    await thread.close();
  });

  const small = () => path('tensors/0.npy');
  const large = () => path('reference.onnx');
  it.each([
    ['small models', small, small, 5, 2, false],
    ['one sample', large, large, 1, 2, false],
    ['one core', large, large, 5, 1, false],
    ['a large model on one side', small, large, 2, 2, true],
    ['models of parts, which count together', () => ({ a: large(), b: small() }), small, 2, 2, true],
    ['a model that is missing', () => path('missing.onnx'), large, 2, 2, false],
  ])('%s: whether a thread starts', (_what, reference, candidate, count, cores, expected) => {
    expect(isWorthThread({ reference: reference(), candidate: candidate() }, count, cores)).toBe(expected);
  });

  it.each([
    ['of larger models', SIZE],
    ['of small models, without a second thread', 4],
  ])('%s, an error names the sample whose values failed, whenever it is thrown', async (_what, size) => {
    await writeModel(path('bad-reference.onnx'), layers(0, size));
    await writeModel(path('bad-candidate.onnx'), layers(1e-4, size));
    const sides = { reference: path('bad-reference.onnx'), candidate: path('bad-candidate.onnx') };
    const params = parseParams(verify, { reference: 'model', candidate: 'model', samples: 3, values: 'all' });
    const errors = openValueErrors({ params, inputs: sides });
    const feeds = (width: number) => ({ x: makeTensor('float32', [3, width], new Float32Array(3 * width).fill(0.5)) });
    const failure = await failureOf(async () => {
      await errors.addFeeds('model', feeds(size), 'sample a');
      await errors.addFeeds('model', feeds(size + 1), 'sample b');
      await errors.addFeeds('model', feeds(size), 'sample c');
      await errors.finish();
    });
    await errors.close();
    expect(failure.code).toBe('model-run');
    expect(failure.message).toMatch(/^sample b: /);
  });
});
