/** Tests of the rewrite rule `maxpool-1x1`. */
import { int, ints, string } from '../../../../src/onnx/ir/attribute.js';
import type { Model } from '../../../../src/onnx/ir/model.js';
import { rewriteModel } from '../../../../src/onnx/rewrite/rewrite-model.js';
import type { FormOf } from '../../../../src/onnx/rules/rule-table.js';
import { getRule } from '../../../../src/onnx/rules/target/get-rule.js';
import { failureOf } from '../../../support/error-code.js';
import { listProblems, nodesOf, operators, runModel } from '../../../support/look-at-model.js';
import { randomFloats, type SmallModel, smallModel } from '../../../support/small-model.js';

const POOL = { kernel_shape: ints([1, 1]), strides: ints([2, 2]), pads: ints([0, 0, 0, 0]) };

function givenPool(
  change: Partial<SmallModel> & { attributes?: SmallModel['nodes'][number]['attributes']; size?: readonly number[] } = {},
): Model {
  return smallModel({
    inputs: { x: ['float32', change.size ?? [1, 3, 6, 9]] },
    nodes: [
      { op: 'Neg', in: ['x'], out: ['before'] },
      { op: 'MaxPool', name: 'fpn/pool', in: ['before'], out: ['pooled'], attributes: change.attributes ?? POOL },
      { op: 'Neg', in: ['pooled'], out: ['y'] },
    ],
    outputs: ['y', 'pooled'],
    ...change,
  });
}

const apply = (model: Model, form: FormOf<'maxpool-1x1'>, matches: 'one' | 'any' = 'one') =>
  rewriteModel(model, { rules: [{ rule: getRule('maxpool-1x1', form), matches }], edits: [], check: listProblems });

const bytesOf = ({ data }: { data: unknown }): Buffer => {
  const view = data as Float32Array;
  return Buffer.from(view.buffer, view.byteOffset, view.byteLength);
};

describe('maxpool-1x1', () => {
  const sizes = [1, 2, 3, 4, 5, 17, 30].flatMap(height => [1, 2, 7].map(width => [1, 3, height, width]));

  it.each(
    (['slice', 'depthwise'] as const).flatMap(form => sizes.map(size => [form, size] as const)),
  )('%s gives the same values at %j', async (form, size) => {
    const feeds = { x: randomFloats(size) };
    const before = await runModel(givenPool({ size }), feeds);
    const model = givenPool({ size });
    apply(model, form);
    const after = await runModel(model, feeds);
    expect(bytesOf(after.pooled ?? { data: [] })).toEqual(bytesOf(before.pooled ?? { data: [] }));
    expect(after.pooled?.dims).toEqual(before.pooled?.dims);
  });

  it.each(sizes.map(size => [size]))('3x3 gives the same shape at %j', async size => {
    const before = await runModel(givenPool({ size }), { x: randomFloats(size) });
    const model = givenPool({ size });
    apply(model, '3x3');
    const after = await runModel(model, { x: randomFloats(size) });
    expect(after.pooled?.dims).toEqual(before.pooled?.dims);
  });

  it('slice keeps a negative zero, depthwise makes it positive', async () => {
    const x = { ...randomFloats([1, 3, 2, 2]), data: new Float32Array(12) };
    const [slice, depthwise] = [givenPool({ size: [1, 3, 2, 2] }), givenPool({ size: [1, 3, 2, 2] })];
    apply(slice, 'slice');
    apply(depthwise, 'depthwise');
    const signs = async (model: Model) =>
      Array.from((await runModel(model, { x })).pooled?.data as Float32Array, value => Object.is(value, -0));
    expect(await signs(slice)).toEqual([true, true, true]);
    expect(await signs(depthwise)).toEqual([false, false, false]);
  });

  it.each([
    ['3x3', 'approximate', 'MaxPool'],
    ['depthwise', 'exact', 'Conv'],
    ['slice', 'exact', 'Slice'],
  ] as const)('form %s is %s and keeps node and output names', (form, proof, opType) => {
    const model = givenPool();
    const record = apply(model, form);
    expect(record.rules[0]).toMatchObject({ rule: 'maxpool-1x1', proof, applied: [{ node: 'MaxPool "fpn/pool"', values: ['pooled'] }] });
    expect(operators(model)).toEqual(['Neg', opType, 'Neg']);
    expect(nodesOf(model)[1]).toMatchObject({ name: 'fpn/pool' });
  });

  it('3x3 keeps the stride and uses kernel 3 and pads 1', () => {
    const model = givenPool();
    apply(model, '3x3');
    const attributes = nodesOf(model)[1]?.attributes;
    expect(attributes?.get('kernel_shape')).toEqual(ints([3, 3]));
    expect(attributes?.get('pads')).toEqual(ints([1, 1, 1, 1]));
    expect(attributes?.get('strides')).toEqual(ints([2, 2]));
  });

  it.each([
    ['another kernel', { ...POOL, kernel_shape: ints([2, 2]) }, 'its kernel is [2, 2], not [1, 1]'],
    ['another stride', { ...POOL, strides: ints([1, 1]) }, 'its strides are [1, 1], not [2, 2]'],
    ['auto_pad', { kernel_shape: ints([1, 1]), strides: ints([2, 2]), auto_pad: string('SAME_UPPER') }, 'it uses auto_pad'],
    ['ceil_mode', { ...POOL, ceil_mode: int(1) }, 'ceil_mode is set'],
  ])('declines %s', (_, attributes, reason) => {
    const record = apply(givenPool({ attributes }), 'slice', 'any');
    expect(record.rules[0]?.declined).toEqual([{ node: 'MaxPool "fpn/pool"', reason }]);
  });

  it('declines pads', () => {
    const record = apply(givenPool({ attributes: { ...POOL, pads: ints([1, 1, 1, 1]) } }), 'slice', 'any');
    expect(record.rules[0]?.declined[0]?.reason).toBe('it has pads');
  });

  it('declines if the indices are read', () => {
    const model = smallModel({
      inputs: { x: ['float32', [1, 1, 4, 4]] },
      nodes: [{ op: 'MaxPool', in: ['x'], out: ['y', 'indices'], attributes: POOL }],
      outputs: ['y', 'indices'],
    });
    expect(apply(model, 'slice', 'any').rules[0]?.declined[0]?.reason).toBe('its second output, the indices, is read');
  });

  it('declines a Slice with steps before opset 10', () => {
    expect(apply(givenPool({ opset: 9 }), 'slice', 'any').rules[0]?.declined[0]?.reason).toContain('opset 10');
  });

  it('declines a depthwise Conv of integers, or of an unknown number of channels', () => {
    const integer = smallModel({
      inputs: { x: ['int8', [1, 3, 4, 4]] },
      nodes: [{ op: 'MaxPool', in: ['x'], out: ['y'], attributes: POOL }],
      outputs: ['y'],
    });
    expect(apply(integer, 'depthwise', 'any').rules[0]?.declined[0]?.reason).toBe(
      'its dtype is int8; the depthwise form supports float32 only',
    );
    const free = smallModel({
      inputs: { x: ['float32', [1, 'channels', 4, 4]] },
      nodes: [{ op: 'MaxPool', in: ['x'], out: ['y'], attributes: POOL }],
      outputs: ['y'],
    });
    expect(apply(free, 'depthwise', 'any').rules[0]?.declined[0]?.reason).toBe('the number of its channels is not known');
  });

  it('is an error with the reasons if it applies nowhere', async () => {
    const model = givenPool({ attributes: { ...POOL, kernel_shape: ints([2, 2]) } });
    const failure = await failureOf(() => apply(model, 'slice'));
    expect(failure.code).toBe('rule-matches-nothing');
    expect(failure.message).toContain('its kernel is [2, 2]');
  });

  it('is an error if it applies twice instead of once', async () => {
    const twice = () =>
      smallModel({
        inputs: { x: ['float32', [1, 3, 8, 8]] },
        nodes: [
          { op: 'MaxPool', in: ['x'], out: ['half'], attributes: POOL },
          { op: 'MaxPool', in: ['half'], out: ['quarter'], attributes: POOL },
        ],
        outputs: ['quarter'],
      });
    expect((await failureOf(() => apply(twice(), 'slice'))).code).toBe('selector-matches-several');
    const model = twice();
    apply(model, 'slice', 'any');
    expect(operators(model)).toEqual(['Slice', 'Slice']);
    const one = twice();
    rewriteModel(one, {
      rules: [{ rule: getRule('maxpool-1x1', 'slice'), select: { output: 'quarter' } }],
      edits: [],
      check: listProblems,
    });
    expect(operators(one)).toEqual(['MaxPool', 'Slice']);
  });
});
