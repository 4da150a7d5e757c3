/** Tests of inlining branches and unrolling loops. */
import { subgraphsOf } from '../../../../src/onnx/ir/edit.js';
import type { Model } from '../../../../src/onnx/ir/model.js';
import { SIMPLIFY_PASSES, simplifyToFixedPoint } from '../../../../src/onnx/passes/simplify.js';
import { parseModelText } from '../../../../src/onnx/text/parse-text.js';
import { evaluate } from '../../../../src/runtime/session/evaluate.js';
import { listProblems, operators, runModel } from '../../../support/look-at-model.js';
import { randomFloats } from '../../../support/small-model.js';

const header = '<ir_version: 8, opset_import: ["": 17]>';
const parse = (text: string): Model => parseModelText(`${header} ${text}`);
const only = SIMPLIFY_PASSES.filter(pass => ['inline-branches', 'unroll-loops'].includes(pass.name));
const simplify = (model: Model, passes = SIMPLIFY_PASSES) =>
  simplifyToFixedPoint(model, { evaluate, check: listProblems, foldLimitBytes: 1 << 20, passes });

const branches = (condition: string): string => `g (float[2, 3] x) => (float[2, 3] y) <bool c = {${condition}}> {
  h = Relu(x)
  r = If<then_branch = t () => (float[2, 3] p) { n = Neg(x) p = Add(n, h) }, else_branch = e () => (float[2, 3] q) { q = Mul(h, x) }>(c)
  y = Neg(r)
}`;

describe('inline-branches', () => {
  it.each([
    ['1', ['Relu', 'Neg', 'Add', 'Neg']],
    ['0', ['Relu', 'Mul', 'Neg']],
  ])('takes the branch of a constant condition %s', async (condition, expected) => {
    const x = randomFloats([2, 3]);
    const before = await runModel(parse(branches(condition)), { x });
    const model = parse(branches(condition));
    await simplify(model);
    expect(operators(model)).toEqual(expected);
    expect(await runModel(model, { x })).toEqual(before);
  });

  it('inlines an If inside an If, and renames duplicate names', async () => {
    const text = `g (float[2, 3] x) => (float[2, 3] y) <bool c = {1}> {
      a = Neg(x)
      y = If<then_branch = t () => (float[2, 3] p) {
        a_2 = Relu(x)
        p = If<then_branch = u () => (float[2, 3] v) { w = Abs(a_2) v = Add(w, a) }, else_branch = f () => (float[2, 3] k) { k = Neg(x) }>(c)
      }, else_branch = e () => (float[2, 3] q) { q = Mul(a, x) }>(c)
    }`;
    const x = randomFloats([2, 3]);
    const before = await runModel(parse(text), { x });
    const model = parse(text);
    await simplify(model);
    expect(operators(model)).toEqual(['Neg', 'Relu', 'Abs', 'Add']);
    expect(await runModel(model, { x })).toEqual(before);
  });

  it('keeps an If whose condition depends on the data, and reports it', async () => {
    const model = parse(
      'g (bool c, float[2] x) => (float[2] y) { y = If<then_branch = t () => (float[2] p) { p = Neg(x) }, else_branch = e () => (float[2] q) { q = Relu(x) }>(c) }',
    );
    const { declined } = await simplify(model, only);
    expect(declined).toEqual([{ pass: 'inline-branches', node: 'If of "y"', reason: 'its condition is not constant' }]);
    expect(operators(model)).toEqual(['If']);
  });
});

/** Carries a sum, and scans a product with the iteration's number. */
const loop = (body = ''): string => `g (float[2, 3] x) => (float[2, 3] last, float[n, 2, 3] rows) <int64 count = {3}, bool go = {1}> {
  last, rows = Loop<body = b (int64 i, bool on, float[2, 3] sum) => (bool more, float[2, 3] next, float[2, 3] row) {
    more = Identity(on) ${body}
    next = Add(sum, x)
    f = Cast<to = 1>(i)
    row = Mul(next, f)
  }>(count, go, x)
}`;

describe('unroll-loops', () => {
  it('runs the body as often, with the same results', async () => {
    const x = randomFloats([2, 3]);
    const before = await runModel(parse(loop()), { x });
    const model = parse(loop());
    await simplify(model);
    expect(operators(model)).not.toContain('Loop');
    expect(operators(model).filter(op => op === 'Add')).toHaveLength(3);
    const after = await runModel(model, { x });
    expect(after.last).toEqual(before.last);
    expect(after.rows).toEqual(before.rows);
  });

  it('gives the copies of a named node names of their own, as ONNX Runtime requires', async () => {
    const x = randomFloats([2, 3]);
    const model = parse(loop());
    for (const outer of model.graph.nodes.values())
      for (const body of subgraphsOf(outer)) for (const node of body.nodes.values()) node.name = `/body/${node.opType}`;
    const before = await runModel(model, { x });
    await simplify(model);
    expect([...model.graph.nodes.values()].flatMap(({ opType, name }) => (opType === 'Add' ? [name] : []))).toEqual([
      '/body/Add',
      '/body/Add_1',
      '/body/Add_2',
    ]);
    expect((await runModel(model, { x })).last).toEqual(before.last);
  });

  it.each<[string, (text: string) => string, string]>([
    [
      'a count that is an input',
      text => text.replace('(float[2, 3] x)', '(int64 count, float[2, 3] x)').replace('int64 count = {3}, ', ''),
      'its count is not constant',
    ],
    [
      'a condition of the body',
      text =>
        text.replace('more = Identity(on)', 'm = ReduceMax<keepdims = 0>(sum) zero = Constant<value = float {0.0}>() more = Less(m, zero)'),
      'its body may end the loop early',
    ],
    [
      'a condition of the body where none is given, by which ONNX Runtime ends the loop',
      text => text.replace('(count, go, x)', '(count, , x)').replace('more = Identity(on)', 'more = Not(on)'),
      'its body may end the loop early',
    ],
    [
      'random numbers',
      text => text.replace('row = Mul(next, f)', 'r = RandomNormalLike<seed = 1.0>(next) row = Mul(r, f)'),
      'its body has random or unknown operators',
    ],
    ['no iterations', text => text.replace('{3}', '{0}'), 'its count is 0, so its outputs have no elements'],
    ['too many', text => text.replace('{3}', '{700}'), '700 times 4 nodes are more than 2000'],
  ])('leaves %s, and says why', async (_, change, reason) => {
    const model = parse(change(loop()));
    const { declined } = await simplify(model, only);
    expect(declined.map(entry => entry.reason)).toEqual([reason]);
    expect(operators(model)).toEqual(['Loop']);
  });

  it('knows a constant true condition', async () => {
    const model = parse(loop().replace('more = Identity(on)', 'more = Constant<value = bool {1}>()'));
    await simplify(model);
    expect(operators(model)).not.toContain('Loop');
  });

  it('copies nested subgraphs with unique names', async () => {
    const text = `g (float[2] x) => (float[2] last) <int64 count = {2}, bool go = {1}> {
      last = Loop<body = b (int64 i, bool on, float[2] sum) => (bool on, float[2] next) {
        zero = Constant<value = int64 {0}>()
        first = Equal(i, zero)
        next = If<then_branch = t () => (float[2] p) { d = Add(sum, sum) p = Add(d, x) }, else_branch = e () => (float[2] q) { d = Mul(sum, x) q = Neg(d) }>(first)
      }>(count, go, x)
    }`;
    const x = randomFloats([2]);
    const before = await runModel(parse(text), { x });
    const model = parse(text);
    await simplify(model);
    expect(operators(model)).toEqual(['Add', 'Add', 'Mul', 'Neg']);
    expect(await runModel(model, { x })).toEqual(before);
  });
});
