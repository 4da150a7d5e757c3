/** Inputs of proofs, and the tolerance of outputs of a Sigmoid. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findSigmoidOutputs } from '../../../src/onnx/analysis/sigmoid-outputs.js';
import { encodeModel } from '../../../src/onnx/serde/encode-model.js';
import { parseModelText } from '../../../src/onnx/text/parse-text.js';
import { compareModels } from '../../../src/runtime/compare/compare-models.js';
import { boundOf, findInequality, listEmpty } from '../../../src/runtime/compare/equality.js';
import {
  describeBatch,
  explainRandomFailure,
  fitFreeSizes,
  openProofFeeds,
  type ProofFeeds,
} from '../../../src/runtime/feeds/proof-feeds.js';
import { openSession } from '../../../src/runtime/session/session.js';
import { encodeNpy } from '../../../src/tensor/formats/npy.js';
import { makeTensor } from '../../../src/tensor/tensor.js';
import { failureOf } from '../../support/error-code.js';
import { givenFolder } from '../../support/run-stage.js';

describe('inputs for a proof', () => {
  const folder = givenFolder('proof-feeds');
  const rows = (): ReturnType<typeof parseModelText> =>
    parseModelText('g (int64[4] at) => (float[4] y) <float[3] w = {1, 2, 3}> { y = Gather(w, at) }');
  const feeds = (tensors: string | undefined): ProofFeeds => ({ samples: 4, tensors, random: () => () => 0.99, sizes: {}, freeSize: 2 });

  function prove(tensors: string | undefined): Promise<unknown> {
    const bytes = encodeModel(rows());
    return explainRandomFailure(feeds(tensors), 'leave the proof out', () =>
      compareModels(bytes, bytes, openProofFeeds(rows(), feeds(tensors)), { optimization: 'disabled' }),
    );
  }

  it('are random, and the error of a model that fails on them has help', async () => {
    const failure = await failureOf(() => prove(undefined));

    expect(failure.code).toBe('model-run');
    expect(failure.message).toContain('the inputs were random');
    expect(failure.help).toBe('leave the proof out');
  });

  it('are the first samples of a given file', async () => {
    const path = join(folder.path, 'at.npy');
    await writeFile(path, encodeNpy(makeTensor('int64', [8], BigInt64Array.of(0n, 1n, 2n, 0n, 2n, 2n, 1n, 0n))));

    expect(await prove(path)).toMatchObject({ samples: 2, outputs: { y: { elements: 8, differentBits: 0 } } });
  });
});

it('a free batch is 1 where a network takes one image alone', async () => {
  const feeds: ProofFeeds = { samples: 1, tensors: undefined, random: () => () => 0.4, sizes: {}, freeSize: 2 };
  const fitted = async (text: string) => {
    const model = parseModelText(text);
    return fitFreeSizes(model, encodeModel(model), feeds);
  };
  const one = 'g (float[N, 3, 4, 4] x) => (float[3, 4, 4] y) <int64[3] d = {3, 4, 4}> { y = Reshape(x, d) }';
  const alone = await fitted(one);
  expect(alone).toMatchObject({ freeSize: 2, batch: 1 });
  expect(describeBatch(alone)).toBe('the model runs on one sample alone: its free batch is 1 in the proof, not 2');
  const any = await fitted('g (float[N, 3, 4, 4] x) => (float[N, 3, 4, 4] y) { y = Relu(x) }');
  expect([any.freeSize, any.batch, describeBatch(any)]).toEqual([2, undefined, undefined]);
});

it.each([
  ['any image', 3, [1, 3, 3, 3]],
  ['an image of 16 and more', 16, [1, 3, 64, 96]],
])('a free batch of 1 leaves free height and width: %s', async (_, kernel, dims) => {
  const model =
    parseModelText(`g (float[N, 3, H, W] x) => (y) <float[1] s = {1}, int64[4] d = {1, 3, ${kernel}, ${kernel}}, int64[2] axes = {0, 1}> {
    w = Expand(s, d)  c = Conv(x, w)  y = Squeeze(c, axes) }`);
  const feeds: ProofFeeds = { samples: 1, tensors: undefined, random: () => () => 0.4, sizes: {}, freeSize: 3 };
  const sized = await fitFreeSizes(model, encodeModel(model), feeds);
  for await (const { x } of openProofFeeds(model, sized)) expect(x?.dims).toEqual(dims);
});

describe('images of free height and width', () => {
  const feeds: ProofFeeds = { samples: 1, tensors: undefined, random: () => () => 0.4, sizes: {}, freeSize: 3 };
  const imageOf = async (text: string, more: Partial<ProofFeeds> = {}) => {
    const model = parseModelText(`g (${text}`);
    return (await fitFreeSizes(model, encodeModel(model), { ...feeds, ...more })).image;
  };
  const CONVOLUTION = (side: number): string => `float[N, 1, H, W] x) => (y) <float[1] s = {1}, int64[4] d = {1, 1, ${side}, ${side}}> {
    w = Expand(s, d)  y = Conv(x, w) }`;

  it.each<[string, string, readonly number[] | undefined]>([
    ['any size', CONVOLUTION(2), undefined],
    ['a kernel of 16', CONVOLUTION(16), [64, 96]],
    ['a kernel of 90', CONVOLUTION(90), [224, 224]],
    ['no image', 'float[N, 7] x) => (y) { y = Relu(x) }', undefined],
    [
      'positions of 64 pixels',
      'float[1, 1, H, H] x) => (y) <float[1] s = {1}, int64[2] d = {64, 64}> { p = Expand(s, d)  z = Squeeze(x)  y = Add(z, p) }',
      [64, 64],
    ],
  ])('are of the first size that a model runs on: %s', async (_, text, image) => {
    expect(await imageOf(text)).toEqual(image);
  });

  it('are not changed where sizes are given, or where no size fits', async () => {
    expect(await imageOf(CONVOLUTION(16), { sizes: { H: 16, W: 16 } })).toBeUndefined();
    expect(await imageOf(CONVOLUTION(900))).toBeUndefined();
  });
});

describe('signals of free length', () => {
  const feeds: ProofFeeds = { samples: 1, tensors: undefined, random: () => () => 0.4, sizes: {}, freeSize: 3 };
  const signal = (dims: string, length: number): string => `g (float[${dims}] x) => (y) <float[1] s = {1}, int64[3] d = {1, 1, ${length}}> {
    w = Expand(s, d)  y = Conv(x, w) }`;

  it.each([
    ['any length', 'N, 1, T', 2, undefined],
    ['a kernel of 10', 'N, 1, T', 10, 64],
    ['a kernel of 1000', '1, 1, T', 1000, 1600],
    ['a length that is known', '1, 1, 99', 10, undefined],
  ])('have the first length that a model runs on: %s', async (_, dims, kernel, length) => {
    const model = parseModelText(signal(dims, kernel));
    const sized = await fitFreeSizes(model, encodeModel(model), feeds);
    expect(sized.length).toBe(length);
    for await (const { x } of openProofFeeds(model, sized)) expect(x?.dims.at(-1)).toBe(dims.endsWith('T') ? (length ?? 3) : 99);
  });
});

it('outputs that are no tensors are refused', async () => {
  const model = parseModelText('g (float[4] x) => (y) { y = SequenceConstruct(x, x) }');
  for (const value of model.graph.values.values()) if (value.name === 'y') value.type = { kind: 'other', bytes: new Uint8Array() };
  const read = async (samples: number): Promise<void> => {
    for await (const _ of openProofFeeds(model, { samples, tensors: undefined, random: () => () => 0.4, sizes: {}, freeSize: 3 })) break;
  };
  await read(0);
  expect(await failureOf(() => read(1))).toMatchObject({ code: 'output-no-tensor', message: expect.stringContaining('"y"') });
});

describe('integers of inputs', () => {
  const feeds: ProofFeeds = { samples: 1, tensors: undefined, random: () => () => 0.99, sizes: {}, freeSize: 3 };

  it.each([
    [12, undefined],
    [2, 2],
    [1, 1],
  ])('are below a limit at which the model runs: a table of %d rows', async (rows, below) => {
    const table = Array.from({ length: rows }, (_, row) => row).join(', ');
    const model = parseModelText(`g (int64[4] at) => (float[4] y) <float[${rows}] w = {${table}}> { y = Gather(w, at) }`);
    expect((await fitFreeSizes(model, encodeModel(model), feeds)).integersBelow).toBe(below);
  });
});

describe('outputs of a Sigmoid', () => {
  it('are found through operators that move elements', () => {
    const model = parseModelText(`g (float[2, 3] x) => (a, b, c, d) {
      s = Sigmoid(x)  a = Transpose(s)  r = Relu(x)  b = Concat<axis = 0>(r, s)  c = Add(s, x)  d = Identity(r) }`);

    expect([...findSigmoidOutputs(model)]).toEqual(['a', 'b']);
  });

  /** The reason for the wider bound: below ½ every value is a multiple of 2⁻²⁵ and may be off by 2 · 2⁻²⁴. */
  it('have the resolution of numbers near ½ in ONNX Runtime for every magnitude', async () => {
    const x = Float32Array.from({ length: 4000 }, (_, index) => -16 + index / 250);
    const session = await openSession(encodeModel(parseModelText('g (float[4000] x) => (float[4000] y) { y = Sigmoid(x) }')), {
      optimization: 'disabled',
    });
    const { y } = await session.run({ x: makeTensor('float32', [4000], x) });
    await session.close();
    const values = [...(y?.data as Float32Array)];

    expect(values.filter(value => !Number.isInteger(value * 2 ** 25))).toEqual([]);
    const worst = Math.max(...values.map((value, index) => Math.abs(value - 1 / (1 + Math.exp(-(x[index] ?? 0))))));
    expect(worst).toBeGreaterThan(2 ** -24);
    expect(worst).toBeLessThan(2 ** -22);
  });

  it('may differ by twice the error of that kernel, and other outputs may not', () => {
    const figures = { standardDeviation: 1e-3, magnitude: 0.01 };
    const output = { ...NOTHING, ...figures, maxAbs: 2e-7 };

    expect(boundOf(1e-4, figures, 'sigmoid')).toBe(2 ** -22);
    expect(findInequality({ kind: 'rounding', tolerance: 1e-4 }, output, 'sigmoid')).toBeUndefined();
    expect(findInequality({ kind: 'rounding', tolerance: 1e-4 }, output)).toContain('an element differs by 2e-7');
    expect(findInequality({ kind: 'exact' }, { ...output, differentBits: 1 }, 'sigmoid')).toContain('1 of 9 elements differ');
  });

  it('without elements are listed', () => {
    expect(listEmpty({ a: { ...NOTHING, elements: 0 }, b: NOTHING })).toEqual(['a']);
  });
});

const NOTHING = {
  maxAbs: 0,
  cosine: 1,
  sqnrDb: 'equal',
  elements: 9,
  broken: 0,
  standardDeviation: 1,
  magnitude: 1,
  shapes: 'equal',
  differentBits: 0,
  differentZeros: 0,
} as const;
