/** Tests of the passes of simplify and of their repetition. */
import { getDefined } from '../../../../src/base/invariant.js';
import { float, int, ints, tensor } from '../../../../src/onnx/ir/attribute.js';
import type { Model } from '../../../../src/onnx/ir/model.js';
import { SIMPLIFY_PASSES, simplifyToFixedPoint } from '../../../../src/onnx/passes/simplify.js';
import { parseModelText } from '../../../../src/onnx/text/parse-text.js';
import { evaluate } from '../../../../src/runtime/session/evaluate.js';
import { RuntimeError } from '../../../../src/runtime/session/runtime-error.js';
import { listProblems, operators, runModel, valueNames } from '../../../support/look-at-model.js';
import { floats, integers, randomConstant, randomFloats, smallModel } from '../../../support/small-model.js';

const simplify = (model: Model, options: { foldLimitBytes?: number; skip?: readonly string[] } = {}) =>
  simplifyToFixedPoint(model, { evaluate, check: listProblems, foldLimitBytes: 1 << 20, ...options });

describe('simplify', () => {
  it('distinguishes nodes with different numbers of outputs', async () => {
    const given = () =>
      smallModel({
        opset: 13,
        inputs: { x: ['float32', [6, 6]] },
        nodes: [
          { op: 'Split', in: ['x'], out: ['p', 'q', 'r'] },
          { op: 'Split', in: ['x'], out: ['s', 't'] },
          { op: 'ReduceSum', in: ['p'], out: ['a'], attributes: { keepdims: int(0) } },
          { op: 'ReduceSum', in: ['s'], out: ['b'], attributes: { keepdims: int(0) } },
        ],
        outputs: ['a', 'b'],
      });
    const model = given();
    await simplify(model);
    const x = randomFloats([6, 6]);
    expect(await runModel(model, { x })).toEqual(await runModel(given(), { x }));
  });

  it('folds the shape arithmetic of a static model, and removes dead nodes', async () => {
    const given = () => flattened([2, 3, 4], -1);
    const model = given();
    const { steps } = await simplify(model);
    expect(operators(model)).toEqual(['Reshape']);
    expect(steps.map(step => step.pass)).toEqual(['fold-shapes', 'remove-dead']);
    const x = randomFloats([2, 3, 4]);
    expect((await runModel(model, { x })).y).toEqual((await runModel(given(), { x })).y);
    expect(model.graph.values.get(getDefined(model.graph.outputs[0], 'output'))?.type).toEqual({
      kind: 'tensor',
      dtype: 'float32',
      dims: [2, 12],
    });
  });

  it('keeps the free batch of a reshape as −1', async () => {
    const model = flattened(['rois', 3, 4], 12);
    await simplify(model);
    expect(operators(model)).toEqual(['Reshape']);
    for (const rois of [1, 5]) expect((await runModel(model, { x: randomFloats([rois, 3, 4]) })).y?.dims).toEqual([rois, 12]);
  });

  it("keeps it if the output is declared with the size of the exporter's run", async () => {
    const model = parseModelText(
      'g (float[N, 4] x) => (float[1, 4] y) { s = Shape(x) r = Relu(x) t = Transpose<perm = [1, 0]>(r) y = Reshape(t, s) }',
    );
    const x = randomFloats([3, 4]);
    const before = await runModel(model, { x });
    await simplify(model);
    expect(operators(model)).toEqual(['Relu', 'Transpose', 'Reshape']);
    expect(await runModel(model, { x })).toEqual(before);
  });

  it('folds constants by ONNX Runtime, in one model for all', async () => {
    let calls = 0;
    const model = smallModel({
      inputs: { x: ['float32', [2]] },
      constants: { a: floats([2], [0.1, 0.2]), b: floats([2], [3, 4]) },
      nodes: [
        { op: 'Exp', in: ['a'], out: ['e'] },
        { op: 'Div', in: ['e', 'b'], out: ['d'] },
        { op: 'Sqrt', in: ['b'], out: ['s'] },
        { op: 'Add', in: ['x', 'd'], out: ['sum'] },
        { op: 'Mul', in: ['sum', 's'], out: ['y'] },
      ],
      outputs: ['y'],
    });
    await simplifyToFixedPoint(model, {
      check: listProblems,
      foldLimitBytes: 1024,
      evaluate: small => {
        calls++;
        return evaluate(small);
      },
    });
    expect(operators(model)).toEqual(['Add', 'Mul']);
    expect(calls).toBe(1);
    expect(valueNames(model).sort()).toEqual(['d', 's', 'sum', 'x', 'y']);
  });

  it.each([
    ['MatMul', ['x', 'weight'], 'rounding'],
    ['MatMul', ['weight', 'x'], 'exact'],
    ['Gemm', ['x', 'weight'], 'rounding'],
    ['Mul', ['x', 'weight'], 'exact'],
  ] as const)('says that a folded second operand of a product changes its rounding: %s of %j is %s', async (operator, inputs, proof) => {
    const model = smallModel({
      inputs: { x: ['float32', [3, 3]] },
      constants: { w: randomConstant([3, 3], 1) },
      nodes: [
        { op: 'Transpose', in: ['w'], out: ['weight'] },
        { op: operator, in: inputs, out: ['y'] },
      ],
      outputs: ['y'],
    });
    const { steps } = await simplify(model);
    expect(steps.filter(step => step.pass === 'fold-constants').map(step => step.proof)).toEqual([proof]);
  });

  it.each([
    [
      'a random operator',
      { op: 'RandomNormal', in: [], out: ['k'], attributes: { shape: ints([2]) } },
      'its results may differ between runs',
    ],
    ['a quantizer', { op: 'DequantizeLinear', in: ['q', 'scale'], out: ['k'] }, 'quantizers are not folded'],
    ['a large result', { op: 'Expand', in: ['a', 'wide'], out: ['k'] }, 'its result has 80000 bytes, the limit is 100'],
  ] as const)('does not fold %s', async (_, node, reason) => {
    const model = smallModel({
      inputs: { x: ['float32', [1]] },
      constants: {
        a: floats([1], [0.1]),
        scale: floats([], [0.5]),
        wide: integers([20_000]),
        q: { dtype: 'int8', dims: [2], bytes: Uint8Array.of(1, 2) },
      },
      nodes: [node, { op: 'Add', in: ['x', 'k'], out: ['y'] }],
      outputs: ['y'],
    });
    const { declined } = await simplify(model, { foldLimitBytes: 100 });
    expect(operators(model)).toEqual([node.op, 'Add']);
    expect(declined).toContainEqual({ pass: 'fold-constants', node: `${node.op} "k"`, reason });
  });

  it('folds what is no larger than its inputs, whatever the limit', async () => {
    const model = smallModel({
      inputs: { x: ['float32', [1, 100]] },
      constants: { w: randomConstant([4, 100], 1) },
      nodes: [
        { op: 'ReduceMean', in: ['w'], out: ['mean'], attributes: { axes: ints([1]) } },
        { op: 'Sub', in: ['w', 'mean'], out: ['centered'] },
        { op: 'Gemm', in: ['x', 'centered'], out: ['y'], attributes: { transB: int(1) } },
      ],
      outputs: ['y'],
    });
    await simplify(model, { foldLimitBytes: 100 });
    expect(operators(model)).toEqual(['Gemm']);
  });

  it('keeps a node that cannot be computed, and folds the others', async () => {
    const model = smallModel({
      inputs: { x: ['float32', [2]] },
      constants: { a: floats([2], [0.1, 0.2]) },
      nodes: [
        { op: 'Exp', in: ['a'], out: ['e'] },
        { op: 'Log', in: ['a'], out: ['l'] },
        { op: 'Add', in: ['x', 'e'], out: ['s'] },
        { op: 'Add', in: ['s', 'l'], out: ['y'] },
      ],
      outputs: ['y'],
    });
    const { declined } = await simplifyToFixedPoint(model, {
      check: listProblems,
      foldLimitBytes: 1024,
      evaluate: small => {
        if (operators(small).includes('Log')) return Promise.reject(new RuntimeError('model-run', 'no kernel'));
        return evaluate(small);
      },
    });
    expect(operators(model)).toEqual(['Log', 'Add', 'Add']);
    expect(declined).toContainEqual({ pass: 'fold-constants', node: 'Log "l"', reason: 'no kernel' });
  });

  it('keeps names of inputs and outputs if an output is an alias', async () => {
    const model = smallModel({
      inputs: { x: ['float32', [2]] },
      nodes: [
        { op: 'Relu', in: ['x'], out: ['r'] },
        { op: 'Identity', in: ['r'], out: ['y'] },
        { op: 'Identity', in: ['x'], out: ['copy'] },
      ],
      outputs: ['y', 'copy'],
    });
    const { declined } = await simplify(model);
    expect(operators(model)).toEqual(['Relu', 'Identity']);
    expect(Object.keys(await runModel(model, { x: randomFloats([2]) }))).toEqual(['y', 'copy']);
    expect(declined).toContainEqual({
      pass: 'remove-identity',
      node: 'Identity "copy"',
      reason: '"copy" is an output of the model and would become an alias',
    });
  });

  // As ONNX Runtime's basic level does.
  it('outputs that do not depend on the inputs become initializers, and keep their names', async () => {
    const given = () =>
      parseModelText(
        'g (float[2, 3] x) => (float[2, 3] y, float[3] sum, int64[2] size, float[1] same, float two) <float[3] a = {1.0, 2.0, 3.0}, float[1] b = {4.0}> { y = Add(x, a) sum = Add(a, b) size = Shape(y) same = Identity(b) two = Constant<value = float {2.0}>() }',
      );
    const model = given();
    await simplify(model);
    expect(operators(model)).toEqual(['Add']);
    expect(listProblems(model)).toEqual([]);
    const x = randomFloats([2, 3]);
    expect(await runModel(model, { x })).toEqual(await runModel(given(), { x }));
    expect((await simplify(model)).steps).toEqual([]);
  });

  it('merges equal nodes and equal weights, but no random ones', async () => {
    const random = { op: 'RandomNormalLike', in: ['x'] } as const;
    const model = smallModel({
      inputs: { x: ['float32', [1, 2, 4, 4]] },
      constants: { w: randomConstant([2, 2, 1, 1]), same: randomConstant([2, 2, 1, 1]), other: randomConstant([2, 2, 1, 1], 2) },
      nodes: [
        { op: 'Conv', in: ['x', 'w'], out: ['a'] },
        { op: 'Conv', in: ['x', 'same'], out: ['b'] },
        { op: 'Conv', in: ['x', 'other'], out: ['c'] },
        { ...random, out: ['d'] },
        { ...random, out: ['e'] },
        { op: 'Sum', in: ['a', 'b', 'c', 'd', 'e'], out: ['y'] },
      ],
      outputs: ['y'],
    });
    await simplify(model);
    expect(operators(model)).toEqual(['Conv', 'Conv', 'RandomNormalLike', 'RandomNormalLike', 'Sum']);
    expect(valueNames(model)).not.toContain('same');
  });

  it('keeps weights shared by several nodes', async () => {
    const model = smallModel({
      inputs: { x: ['float32', [1, 2, 4, 4]], z: ['float32', [1, 2, 8, 8]] },
      constants: { w: randomConstant([2, 2, 1, 1]) },
      nodes: [
        { op: 'Conv', in: ['x', 'w'], out: ['y'] },
        { op: 'Conv', in: ['z', 'w'], out: ['v'] },
      ],
      outputs: ['y', 'v'],
    });
    const { steps } = await simplify(model);
    expect(steps).toEqual([]);
    expect(valueNames(model)).toEqual(['x', 'z', 'w', 'y', 'v']);
  });

  it('weights that are inputs too become constants', async () => {
    const model = smallModel({
      inputs: { x: ['float32', [1, 4, 3, 3]], w: ['float32', [2, 4, 1, 1]] },
      nodes: [{ op: 'Conv', in: ['x', 'w'], out: ['y'] }],
      outputs: ['y'],
    });
    const weight = model.graph.values.get(getDefined(model.graph.inputs[1], 'weight'));
    if (weight !== undefined) weight.constant = randomConstant([2, 4, 1, 1]);
    await simplify(model);
    expect(model.graph.inputs.map(id => model.graph.values.get(id)?.name)).toEqual(['x']);
  });

  it('Constant nodes become initializers of the same name, and skip leaves a pass out', async () => {
    const given = () =>
      smallModel({
        inputs: { x: ['float32', [2]] },
        nodes: [
          { op: 'Constant', in: [], out: ['k'], attributes: { value: tensor(floats([2], [1, 2])) } },
          { op: 'Add', in: ['x', 'k'], out: ['y'] },
        ],
        outputs: ['y'],
      });
    const [folded, kept] = [given(), given()];
    await simplify(folded);
    await simplify(kept, { skip: ['constants-to-initializers', 'fold-constants'] });
    expect(operators(folded)).toEqual(['Add']);
    expect(valueNames(folded)).toContain('k');
    expect(operators(kept)).toEqual(['Constant', 'Add']);
  });

  it('a second run changes nothing', async () => {
    const model = smallModel({
      inputs: { x: ['float32', [1, 3, 5, 5]] },
      constants: { w: randomConstant([2, 3, 3, 3]), one: floats([2], [1, 1]), zero: floats([2], [0, 0]) },
      nodes: [
        { op: 'Conv', in: ['x', 'w'], out: ['c'] },
        { op: 'BatchNormalization', in: ['c', 'one', 'zero', 'zero', 'one'], out: ['n'], attributes: { epsilon: float(0.001) } },
        { op: 'Relu', in: ['n'], out: ['y'] },
      ],
      outputs: ['y'],
    });
    expect((await simplify(model)).steps.map(step => [step.pass, step.proof])).toContainEqual(['fold-batch-normalization', 'rounding']);
    expect((await simplify(model)).steps).toEqual([]);
  });

  it('leaves a BatchNormalization that trains in training, though nothing reads the statistics', async () => {
    const model = smallModel({
      opset: 9,
      inputs: { x: ['float32', [2, 3, 4, 4]] },
      constants: { one: floats([3], [1, 2, 3]), zero: floats([3], [0, 1, 2]) },
      nodes: [{ op: 'BatchNormalization', in: ['x', 'one', 'zero', 'zero', 'one'], out: ['y', 'mean', 'variance', 'm', 'v'] }],
      outputs: ['y'],
    });
    const x = randomFloats([2, 3, 4, 4]);
    const before = await runModel(model, { x });
    expect((await simplify(model)).steps).toEqual([]);
    expect(await runModel(model, { x })).toEqual(before);
  });

  it('every pass has a unique name', () => {
    const names = SIMPLIFY_PASSES.map(pass => pass.name);
    expect(new Set(names).size).toBe(names.length);
  });
});

/** A Reshape to rows of `rest` elements, whose first dimension is computed from the input's shape. */
function flattened(dims: readonly (number | string)[], rest: number) {
  return smallModel({
    inputs: { x: ['float32', dims] },
    constants: { zero: integers([0]), rest: integers([rest]) },
    nodes: [
      { op: 'Shape', in: ['x'], out: ['shape'] },
      { op: 'Gather', in: ['shape', 'zero'], out: ['batch'] },
      { op: 'Concat', in: ['batch', 'rest'], out: ['target'], attributes: { axis: int(0) } },
      { op: 'Reshape', in: ['x', 'target'], out: ['y'] },
    ],
    outputs: ['y'],
  });
}
