/** Tests that the host operations described by `cut-moves` do what the removed nodes did: a second model runs them from the description alone. */
import { int, ints } from '../../../../src/onnx/ir/attribute.js';
import type { Constant, Model } from '../../../../src/onnx/ir/model.js';
import type { HostWork } from '../../../../src/onnx/rewrite/apply-patch.js';
import type { HostStep } from '../../../../src/onnx/rewrite/patch.js';
import { rewriteModel } from '../../../../src/onnx/rewrite/rewrite-model.js';
import { getRule } from '../../../../src/onnx/rules/target/get-rule.js';
import { decodeModel } from '../../../../src/onnx/serde/decode-model.js';
import { encodeModel } from '../../../../src/onnx/serde/encode-model.js';
import { parseModelText } from '../../../../src/onnx/text/parse-text.js';
import type { Tensor } from '../../../../src/tensor/tensor.js';
import { makeTensor } from '../../../../src/tensor/tensor.js';
import { listProblems, operators, runModel } from '../../../support/look-at-model.js';
import {
  floats,
  integers,
  randomConstant,
  randomFloats,
  type SmallModel,
  type SmallNode,
  smallModel,
} from '../../../support/small-model.js';

function cut(model: Model, form: 'trailing' | 'leading'): { readonly work: readonly HostWork[]; readonly reasons: readonly string[] } {
  const { rules } = rewriteModel(model, { rules: [{ rule: getRule('cut-moves', form), matches: 'any' }], edits: [], check: listProblems });
  const [record] = rules;
  return {
    work: (record?.applied ?? []).flatMap(({ host }) => (host === undefined ? [] : [host])),
    reasons: (record?.declined ?? []).map(({ reason }) => reason),
  };
}

/** What the host does, by ONNX Runtime's operators. */
async function doOnHost(steps: readonly HostStep[], tensor: Tensor): Promise<Tensor> {
  const constants: Record<string, Constant> = {};
  const nodes = steps.map((step, index): SmallNode => {
    const [from, to, constant] = [`v${index}`, `v${index + 1}`, `c${index}`];
    switch (step.op) {
      case 'Transpose':
        return { op: 'Transpose', in: [from], out: [to], attributes: { perm: ints(step.perm) } };
      case 'Reshape':
        constants[constant] = integers(step.shape);
        return { op: 'Reshape', in: [from, constant], out: [to] };
      case 'Cast':
        return { op: 'Cast', in: [from], out: [to], attributes: { to: int(1) } };
      default:
        constants[constant] = floats(step.dims, step.constant);
        return { op: step.op, in: step.order === 'input-first' ? [from, constant] : [constant, from], out: [to] };
    }
  });
  const last = `v${steps.length}`;
  const model = smallModel({ inputs: { v0: [tensor.dtype, tensor.dims] }, constants, nodes, outputs: [last] });
  return (await runModel(model, { v0: tensor }))[last] as Tensor;
}

const HEAD: SmallModel = {
  inputs: { x: ['float32', ['n', 4, 3, 5]] },
  constants: { w: randomConstant([6, 4, 1, 1]), shape: integers([0, 3, 5, 3, 2]), flat: integers([0, -1, 2]) },
  nodes: [
    { op: 'Conv', in: ['x', 'w'], out: ['deltas'] },
    { op: 'Transpose', in: ['deltas'], out: ['t'], attributes: { perm: ints([0, 2, 3, 1]) } },
    { op: 'Reshape', in: ['t', 'shape'], out: ['r'] },
    { op: 'Reshape', in: ['r', 'flat'], out: ['rows'] },
    { op: 'Relu', in: ['x'], out: ['also'] },
  ],
  outputs: ['rows', 'also'],
};

describe('cut-moves', () => {
  it('removes Transpose and Reshape before an output, keeps its name, and reports the work left to the host', async () => {
    const model = smallModel(HEAD);
    const { work } = cut(model, 'trailing');
    expect(operators(model)).toEqual(['Conv', 'Relu']);
    expect(work).toEqual([
      {
        side: 'output',
        end: 'rows',
        steps: [
          { op: 'Transpose', perm: [0, 2, 3, 1] },
          { op: 'Reshape', shape: [-1, 3, 5, 3, 2] },
          { op: 'Reshape', shape: [-1, 45, 2] },
        ],
      },
    ]);
    const feeds = { x: randomFloats([2, 4, 3, 5]) };
    const before = await runModel(smallModel(HEAD), feeds);
    const after = await runModel(decodeModel(encodeModel(model)), feeds);
    expect(Object.keys(after)).toEqual(['rows', 'also']);
    expect(after.rows?.dims).toEqual([2, 6, 3, 5]);
    expect(await doOnHost(work[0]?.steps ?? [], after.rows as Tensor)).toEqual(before.rows);
    expect(cut(model, 'trailing').work).toEqual([]);
  });

  it('removes image preprocessing after the input', async () => {
    const given: SmallModel = {
      inputs: { image: ['uint8', [1, 6, 5, 3]] },
      constants: { mean: floats([3, 1, 1], [120, 110, 100]), scale: floats([], [0.02]), w: randomConstant([2, 3, 3, 3]) },
      nodes: [
        { op: 'Cast', in: ['image'], out: ['f'], attributes: { to: int(1) } },
        { op: 'Transpose', in: ['f'], out: ['t'], attributes: { perm: ints([0, 3, 1, 2]) } },
        { op: 'Sub', in: ['mean', 't'], out: ['s'] },
        { op: 'Mul', in: ['s', 'scale'], out: ['m'] },
        { op: 'Conv', in: ['m', 'w'], out: ['y'] },
      ],
      outputs: ['y'],
    };
    const image = makeTensor(
      'uint8',
      [1, 6, 5, 3],
      Uint8Array.from({ length: 90 }, (_, index) => (index * 37) % 256),
    );
    const model = smallModel(given);
    const { work } = cut(model, 'leading');
    expect(operators(model)).toEqual(['Conv']);
    expect(work[0]?.steps.map(({ op }) => op)).toEqual(['Cast', 'Transpose', 'Sub', 'Mul']);
    const prepared = await doOnHost(work[0]?.steps ?? [], image);
    expect(prepared.dims).toEqual([1, 3, 6, 5]);
    expect(await runModel(decodeModel(encodeModel(model)), { image: prepared })).toEqual(await runModel(smallModel(given), { image }));
    expect(cut(model, 'leading').work).toEqual([]);
  });

  it('keeps a constant that a graph inside an If still reads', () => {
    const model = parseModelText(`<ir_version: 8, opset_import: ["": 17]>
      g (bool c, float[1, 2, 3] x) => (float[1, 2, 3] y) <float[2, 1] k = {1.0, 2.0}> {
        s = Mul(x, k)
        r = Relu(s)
        y = If<then_branch = t () => (float[1, 2, 3] p) { p = Add(r, k) }, else_branch = e () => (float[1, 2, 3] q) { q = Neg(r) }>(c)
      }`);
    expect(cut(model, 'leading').work.map(({ end, steps }) => [end, steps.map(({ op }) => op)])).toEqual([['x', ['Mul']]]);
    expect(operators(model)).toEqual(['Relu', 'If']);
  });

  it.each<[string, 'trailing' | 'leading', SmallModel, readonly string[]]>([
    [
      'another node reads it',
      'trailing',
      { ...HEAD, nodes: [...HEAD.nodes, { op: 'Neg', in: ['rows'], out: ['z'] }], outputs: ['rows', 'z'] },
      ['its output has other readers'],
    ],
    ['what is left is an output', 'trailing', { ...HEAD, outputs: ['rows', 'deltas'] }, ['its input is also an output of the model']],
    [
      'nothing is left',
      'trailing',
      { inputs: { x: ['float32', [2, 3]] }, nodes: [{ op: 'Transpose', in: ['x'], out: ['y'] }], outputs: ['y'] },
      ['no node would be left before the output'],
    ],
    [
      'two sizes are not known',
      'trailing',
      {
        inputs: { x: ['float32', ['n', 'm', 2]] },
        constants: { shape: integers([0, 0, 2, 1]) },
        nodes: [
          { op: 'Relu', in: ['x'], out: ['r'] },
          { op: 'Reshape', in: ['r', 'shape'], out: ['y'] },
        ],
        outputs: ['y'],
      },
      ['a dim of its output is not known'],
    ],
    [
      'another node reads the input',
      'leading',
      {
        inputs: { x: ['float32', [2, 3]] },
        nodes: [
          { op: 'Transpose', in: ['x'], out: ['t'] },
          { op: 'Relu', in: ['t'], out: ['y'] },
          { op: 'Neg', in: ['x'], out: ['z'] },
        ],
        outputs: ['y', 'z'],
      },
      ['it does not just move or scale the elements of an input that it alone reads'],
    ],
    [
      'the constant broadcasts the input',
      'leading',
      {
        inputs: { x: ['float32', [1, 3]] },
        constants: { c: randomConstant([2, 3]) },
        nodes: [
          { op: 'Add', in: ['x', 'c'], out: ['t'] },
          { op: 'Relu', in: ['t'], out: ['y'] },
        ],
        outputs: ['y'],
      },
      ['it does not just move or scale the elements of an input that it alone reads'],
    ],
  ])('%s: declines (%s)', (_, form, given, reasons) => {
    const model = smallModel(given);
    const before = operators(model);
    const done = cut(model, form);
    expect(done.work).toEqual([]);
    expect(done.reasons).toEqual(expect.arrayContaining([...reasons]));
    expect(operators(model)).toEqual(before);
  });
});
