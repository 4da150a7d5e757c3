/** Comparison of the outputs of two models on random feeds. */
import type { Model } from '../../../src/onnx/ir/model.js';
import { encodeModel } from '../../../src/onnx/serde/encode-model.js';
import { compareModels } from '../../../src/runtime/compare/compare-models.js';
import { makeRandomFeeds } from '../../../src/runtime/feeds/random-feeds.js';
import { evaluate } from '../../../src/runtime/session/evaluate.js';
import { makeTensor } from '../../../src/tensor/tensor.js';
import { failureOf } from '../../support/error-code.js';
import { floats, randomFloats, smallModel } from '../../support/small-model.js';

const unary = (op: string, output = 'y'): Model =>
  smallModel({ inputs: { x: ['float32', ['n', 2]] }, nodes: [{ op, in: ['x'], out: [output] }], outputs: [output] });

const compare = (before: Model, after: Model, data: readonly (readonly number[])[]) =>
  compareModels(
    encodeModel(before),
    encodeModel(after),
    data.map(values => ({ x: makeTensor('float32', [values.length / 2, 2], Float32Array.from(values)) })),
    { optimization: 'disabled' },
  );

describe('comparing models', () => {
  it('merges figures over samples', async () => {
    const { samples, outputs } = await compare(unary('Relu'), unary('Abs'), [
      [1, 2],
      [-3, 4],
    ]);
    expect(samples).toBe(2);
    expect(outputs.y).toMatchObject({ maxAbs: 3, elements: 4, differentBits: 1, shapes: 'equal', magnitude: 4 });
    expect(outputs.y?.sqnrDb).toBeCloseTo(10 * Math.log10(21 / 9), 9);
  });

  it('distinguishes zeros with another sign from other values', async () => {
    const { outputs } = await compare(unary('Neg'), unary('Abs'), [[0, -5]]);
    expect(outputs.y).toMatchObject({ maxAbs: 0, differentBits: 1, differentZeros: 1 });
  });

  it('reports different shapes', async () => {
    const { outputs } = await compare(unary('Relu'), unary('Transpose'), [[1, 2, 3, 4, 5, 6]]);
    expect(outputs.y?.shapes).toBe('different');
  });

  it('refuses models without a common output', async () => {
    expect((await failureOf(() => compare(unary('Relu'), unary('Relu', 'z'), [[1, 2]]))).code).toBe('outputs-differ');
  });
});

describe('random feeds', () => {
  const feedsOf = (model: Model) => makeRandomFeeds(model, { random: () => 0.25, sizes: { n: 5 }, freeSize: 3 });

  it('take named sizes, then the free size, and skip inputs with a default', () => {
    const model = smallModel({
      inputs: { x: ['float32', ['n', 'm', 2]], i: ['int64', [1]], w: ['float32', [1]], b: ['bool', [2]], q: ['uint8', [1]] },
      nodes: [],
      outputs: [],
    });
    for (const value of model.graph.values.values()) if (value.name === 'w') value.constant = floats([1], [1]);
    const feeds = feedsOf(model);
    expect(Object.keys(feeds)).toEqual(['x', 'i', 'b', 'q']);
    expect(feeds.x?.dims).toEqual([5, 3, 2]);
    expect(feeds.i?.data).toEqual(BigInt64Array.of(2n));
    expect(feeds.q?.data).toEqual(Uint8Array.of(64));
  });

  it('are an error for an input without random values', async () => {
    const model = smallModel({ inputs: { x: ['string', [1]] }, nodes: [], outputs: [] });
    expect((await failureOf(() => feedsOf(model))).code).toBe('random-input');
  });
});

describe('evaluate', () => {
  it('computes a model without inputs', async () => {
    const a = randomFloats([4]);
    const model = smallModel({
      inputs: {},
      constants: { a: floats([4], [...a.data]) },
      nodes: [{ op: 'Neg', in: ['a'], out: ['y'] }],
      outputs: ['y'],
    });
    expect((await evaluate(model)).y).toEqual(
      makeTensor(
        'float32',
        [4],
        a.data.map(value => -value),
      ),
    );
  });

  it('a model that ONNX Runtime rejects is an error', async () => {
    const model = smallModel({ inputs: {}, nodes: [{ op: 'NoSuchOperator', in: [], out: ['y'] }], outputs: ['y'] });
    expect((await failureOf(() => evaluate(model))).code).toBe('model-load');
  });
});
