/** The bound of an equality proof: a share of the deviation, or what the original's own rounding makes of the same inputs. */
import { findProblems } from '../../../src/onnx/check/check-model.js';
import { encodeModel } from '../../../src/onnx/serde/encode-model.js';
import { boundLoops } from '../../../src/onnx/surgery/bound-loops.js';
import { parseModelText } from '../../../src/onnx/text/parse-text.js';
import { type Equality, findInequality } from '../../../src/runtime/compare/equality.js';
import { type EqualityProof, proveEqual } from '../../../src/runtime/compare/prove-equal.js';
import type { NamedTensors } from '../../../src/runtime/session/model-inputs.js';
import { makeTensor } from '../../../src/tensor/tensor.js';
import { randomFloats } from '../../support/small-model.js';

const HEAD = '<ir_version: 8, opset_import: ["": 17]>\n';
/** The offset of 1,000 that BatchNormalization takes away again leaves few bits of the image. */
const CANCELS = `${HEAD}g (float[1, 1, 8, 8] x) => (float[1, 1, 8, 8] y)
<float[1, 1, 1, 1] w = {1}, float[1] b = {1000}, float[1] s = {1}, float[1] o = {0}, float[1] m = {1000}, float[1] v = {0.99999}> {
  c = Conv(x, w, b)
  y = BatchNormalization<epsilon = 0.00001>(c, s, o, m, v)
}`;
const FOLDED = `${HEAD}g (float[1, 1, 8, 8] x) => (float[1, 1, 8, 8] y) <float[1, 1, 1, 1] w = {1}> { y = Conv(x, w) }`;

const prove = (before: string, after: string, kind: 'exact' | 'rounding' = 'rounding'): Promise<EqualityProof> =>
  proveEqual({
    before: encodeModel(parseModelText(before)),
    after: encodeModel(parseModelText(after)),
    openFeeds: (): readonly NamedTensors[] => [{ x: randomFloats([1, 1, 8, 8], 5) }],
    wanted: kind === 'exact' ? { kind } : { kind, tolerance: 1e-6 },
    sigmoids: new Set(),
    loops: 'none',
  });

it('accepts a difference beyond the tolerance that ONNX Runtime makes as well when it folds BatchNormalization', async () => {
  const { outputs, spread, unequal } = await prove(CANCELS, FOLDED);
  expect(outputs.y?.maxAbs).toBeGreaterThan(1e-6);
  expect(outputs.y?.maxAbs).toBeLessThanOrEqual(2 * (spread.y ?? 0));
  expect(unequal).toBeUndefined();
});

it('does not measure where nothing exceeds the tolerance', async () => {
  expect((await prove(CANCELS, CANCELS)).spread).toEqual({});
});

it('finds an edit of 1e-4 of the deviation where ONNX Runtime agrees with itself', async () => {
  const { outputs, spread, unequal } = await prove(FOLDED, FOLDED.replace('w = {1}', 'w = {1.0001}'));
  expect(outputs.y?.maxAbs).toBeLessThan(5e-4 * (outputs.y?.standardDeviation ?? 0));
  expect(spread.y).toBeLessThan(1e-6);
  expect(unequal?.reason).toContain("ONNX Runtime's own optimizations change it by");
});

it('does not accept a spread of selections: a tenth of the deviation says nothing about rounding', async () => {
  const chosen = (text: string): string =>
    text
      .replace('=> (float[1, 1, 8, 8] y)', '=> (float[1, 1, 8, 8] z)')
      .replace(/}$/, '  k = Mul(y, big)\n  r = Floor(k)\n  z = Sub(k, r) }')
      .replace('<float[1, 1, 1, 1] w', '<float big = {100000}, float[1, 1, 1, 1] w');
  const { spread, outputs, unequal } = await prove(chosen(CANCELS), chosen(FOLDED));
  expect(spread.z).toBeGreaterThan(0.1 * (outputs.z?.standardDeviation ?? 0));
  expect(unequal?.output).toBe('z');
});

it('accepts the rounding of sums in an output of one number, which has no deviation', async () => {
  const text = `${HEAD}g (float[1, 1, 8, 8] x) => (float[1, 1, 1, 1] y) { y = GlobalAveragePool(x) }`;
  const { outputs } = await prove(text, text);
  if (outputs.y === undefined) throw new Error('no figures of y');
  const differs = { ...outputs.y, magnitude: 1, maxAbs: 4e-6 };
  const judge = (spread: number): string | undefined => findInequality({ kind: 'rounding', tolerance: 1e-4 }, differs, 'any', spread);
  expect(differs.standardDeviation).toBe(0);
  expect([judge(4e-6), judge(1e-6), judge(1e-3)]).toEqual([undefined, expect.any(String), expect.any(String)]);
});

it('never widens what must be exact', async () => {
  const { spread, unequal } = await prove(CANCELS, FOLDED, 'exact');
  expect([spread, unequal?.output]).toEqual([{}, 'y']);
});

describe('two outputs', () => {
  const output = {
    maxAbs: 0.01,
    cosine: 1,
    sqnrDb: 40,
    elements: 9,
    broken: 0,
    standardDeviation: 1,
    magnitude: 3,
    differentBits: 1,
    differentZeros: 0,
  };
  const rounding: Equality = { kind: 'rounding', tolerance: 1e-3 };

  it.each<[string, Equality, object]>([
    ['one bit differs after exact passes', { kind: 'exact' }, { maxAbs: 1e-9 }],
    ['an element differs by more than the tolerance', rounding, {}],
    ['the shapes differ', rounding, { shapes: 'different', maxAbs: 0 }],
    ['one has a NaN that the other has not', rounding, { broken: 1, maxAbs: 0 }],
  ])('are not equal if %s', (_, wanted, change) => {
    expect(findInequality(wanted, { ...output, shapes: 'equal', ...change })).toBeDefined();
  });

  it.each<[Equality, object]>([
    [rounding, { maxAbs: 9e-4 }],
    [rounding, { standardDeviation: 0, maxAbs: 5e-7 }],
    [{ kind: 'exact' }, { differentBits: 0, maxAbs: 0 }],
  ])('are equal within %j', (wanted, change) => {
    expect(findInequality(wanted, { ...output, shapes: 'equal', ...change })).toBeUndefined();
  });
});

describe('a Loop', () => {
  const looping = (count: string): string => `${HEAD}g (float[3] x, int64 m) => (float[3] y)
<int64 forever = {4611686018427387904}, int64 some = {5}, float[3] step = {1, 2, 3}, bool yes = {1}> {
  y = Loop <body = b (int64 i, bool go, float[3] a) => (bool on, float[3] n) { on = Identity(go) n = Add(a, step) }> (${count}, yes, x) }`;
  const play = (count: string, step = '1'): Promise<EqualityProof> =>
    proveEqual({
      before: encodeModel(parseModelText(looping(count))),
      after: encodeModel(parseModelText(looping(count).replace('step = {1', `step = {${step}`))),
      openFeeds: (): readonly NamedTensors[] => [{ x: randomFloats([3], 1), m: makeTensor('int64', [], BigInt64Array.of(2n ** 62n)) }],
      wanted: { kind: 'exact' },
      sigmoids: new Set(),
      loops: 'some',
    });

  it.each([
    ['forever', 1],
    ['m', 1],
    ['', 1],
    ['some', 0],
  ])('with the count "%s" ends', async (count, boundedLoops) => {
    expect(await play(count)).toMatchObject({ boundedLoops, samples: 1, unequal: undefined });
  });

  it('that is limited still shows a changed body', async () => {
    expect((await play('forever', '1.5')).unequal?.output).toBe('y');
  });

  it('gets integers limited through double precision before operator set 12', async () => {
    const model = parseModelText(looping('m').replace('["": 17]', '["": 11]'));
    expect(boundLoops(model)).toBe(1);
    expect([...model.graph.nodes.values()].map(({ opType }) => opType)).toEqual(['Cast', 'Cast', 'Min', 'Cast', 'Loop']);
    expect(findProblems(model, 'operators')).toEqual([]);
  });
});
