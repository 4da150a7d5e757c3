/** Tests of model surgery: renaming, inserting, removing, merging, swapping. */
import { checkModel } from '../../../../src/onnx/check/check-model.js';
import { float } from '../../../../src/onnx/ir/attribute.js';
import { findValueByName } from '../../../../src/onnx/ir/edit.js';
import type { Model } from '../../../../src/onnx/ir/model.js';
import { decodeMessage } from '../../../../src/onnx/proto/codec/decode-message.js';
import { encodeMessage } from '../../../../src/onnx/proto/codec/encode-message.js';
import { WHOLE_SCHEMA } from '../../../../src/onnx/proto/codec/schema.js';
import { encodeModel } from '../../../../src/onnx/serde/encode-model.js';
import { type EditStep, editModel } from '../../../../src/onnx/surgery/edit-model.js';
import { mergeModels } from '../../../../src/onnx/surgery/merge-models.js';
import { parseModelText } from '../../../../src/onnx/text/parse-text.js';
import { printGraph } from '../../../../src/onnx/text/print.js';
import { openSession } from '../../../../src/runtime/session/session.js';
import { makeTensor } from '../../../../src/tensor/tensor.js';

const TEXT = `g (float[1, 2] x) => (float[1, 2] y, float[1, 2] z) <float[2] w = {10, 20}> {
  [add] a = Add(x, w)
  [relu] b = Relu(a)
  [neg] y = Neg(b)
  [abs] z = Abs(b)
}`;

const given = (text = TEXT): Model => parseModelText(text);

/** Nodes as text, one a line. */
function nodesOf(model: Model): string[] {
  expect(checkModel(model)).toEqual([]);
  const text = printGraph(model.graph);
  return text
    .slice(text.lastIndexOf('\n{\n') + 3, -3)
    .split('\n')
    .map(line => line.trim());
}

async function run(model: Model, x: readonly number[]): Promise<Record<string, number[]>> {
  const session = await openSession(encodeModel(model), { optimization: 'disabled' });
  const outputs = await session.run({ x: makeTensor('float32', [1, 2], Float32Array.from(x)) });
  await session.close();
  return Object.fromEntries(Object.entries(outputs).map(([name, { data }]) => [name, Array.from(data as Float32Array)]));
}

const failureOf = (steps: readonly EditStep[], text = TEXT): unknown => {
  try {
    editModel(given(text), steps);
  } catch (error) {
    return (error as { code: string }).code;
  }
  return undefined;
};

describe('renaming', () => {
  it('renames all values at once, so that two can swap names, without changing the computation', async () => {
    const model = given();
    editModel(model, [
      {
        kind: 'rename-values',
        renames: [
          { from: 'y', to: 'z' },
          { from: 'z', to: 'y' },
          { from: 'w', to: 'weights/w' },
        ],
      },
      { kind: 'rename-nodes', renames: [{ from: '*', to: 'net/*' }] },
    ]);

    expect(nodesOf(model)).toEqual([
      '[net/add] a = Add(x, weights/w)',
      '[net/relu] b = Relu(a)',
      '[net/neg] z = Neg(b)',
      '[net/abs] y = Abs(b)',
    ]);
    expect(await run(model, [1, -30])).toEqual({ z: [-11, -0], y: [11, 0] });
  });

  it.each<[string, EditStep, string]>([
    ['a value that is not there', { kind: 'rename-values', renames: [{ from: 'q', to: 'r' }] }, 'selector-matches-nothing'],
    ['to a name that is taken', { kind: 'rename-values', renames: [{ from: 'a', to: 'b' }] }, 'name-taken'],
    ['to a name that an earlier value has', { kind: 'rename-values', renames: [{ from: 'b', to: 'a' }] }, 'name-taken'],
    ['several to one name', { kind: 'rename-values', renames: [{ from: '*', to: 'one' }] }, 'bad-rename'],
    ['a node to a name that is taken', { kind: 'rename-nodes', renames: [{ from: 'neg', to: 'abs' }] }, 'name-taken'],
    [
      'one thing twice',
      {
        kind: 'rename-nodes',
        renames: [
          { from: 'neg', to: 'p' },
          { from: 'n*', to: 'm*' },
        ],
      },
      'bad-rename',
    ],
  ])('refuses %s', (_, step, code) => {
    expect(failureOf([step])).toBe(code);
  });

  it('finds names in sub-graphs, which may not take one from outside', () => {
    const text = `g (bool c, float x) => (float y) {
      y = If<then_branch = t () => (float p) { p = Neg(x) }, else_branch = e () => (float q) { q = Abs(x) }>(c) }`;
    const model = given(text);
    editModel(model, [
      {
        kind: 'rename-values',
        renames: [
          { from: 'p', to: 'inner' },
          { from: 'x', to: 'outer' },
        ],
      },
    ]);

    expect(nodesOf(model).join('\n')).toContain('inner = Neg(outer)');
    expect(failureOf([{ kind: 'rename-values', renames: [{ from: 'q', to: 'x' }] }], text)).toBe('name-taken');
  });

  it('is followed by quantization annotations', () => {
    const model = given();
    model.graph.unknown = [
      encodeMessage('GraphProto', {
        quantizationAnnotation: [{ tensorName: 'a', quantParameterTensorNames: [{ key: 'SCALE_TENSOR', value: 'w' }] }],
      }),
    ];
    editModel(model, [
      {
        kind: 'rename-values',
        renames: [
          { from: 'a', to: 'aa' },
          { from: 'w', to: 'ww' },
        ],
      },
    ]);

    expect(decodeMessage(WHOLE_SCHEMA, 'GraphProto', model.graph.unknown[0] ?? new Uint8Array(0)).quantizationAnnotation).toMatchObject([
      { tensorName: 'aa', quantParameterTensorNames: [{ key: 'SCALE_TENSOR', value: 'ww' }] },
    ]);
  });
});

describe('inserting and removing', () => {
  it('puts a node between a value and all that read it', async () => {
    const model = given();
    editModel(model, [{ kind: 'insert', insertion: { on: 'a', op: 'LeakyRelu', attributes: { alpha: float(0.5) } } }]);

    expect(nodesOf(model)).toEqual([
      '[add] a = Add(x, w)',
      '[a_LeakyRelu] a_LeakyRelu = LeakyRelu<alpha = 0.5>(a)',
      '[relu] b = Relu(a_LeakyRelu)',
      '[neg] y = Neg(b)',
      '[abs] z = Abs(b)',
    ]);
    expect(await run(model, [1, 2])).toEqual({ y: [-11, -22], z: [11, 22] });
  });

  it('keeps the name of an output, and replaces constants and single readers on request', async () => {
    const model = given();
    const three = { dtype: 'float32', dims: [1], bytes: new Uint8Array(Float32Array.of(3).buffer) } as const;
    editModel(model, [
      { kind: 'insert', insertion: { on: 'y', op: 'Mul', name: 'triple', others: [three] } },
      { kind: 'insert', insertion: { on: 'b', op: 'Sub', others: [three], at: 1, readers: 'abs' } },
    ]);

    expect(await run(model, [1, 2])).toEqual({ y: [-33, -66], z: [8, 19] });
    expect(model.graph.outputs.map(id => model.graph.values.get(id)?.name)).toEqual(['y', 'z']);
  });

  it('bypasses a node, and removes nodes that nothing needs', async () => {
    const model = given();
    editModel(model, [
      { kind: 'remove', removal: { select: { op: 'Add' } } },
      { kind: 'remove', removal: { select: 'neg' } },
    ]);

    expect(nodesOf(model)).toEqual(['[relu] y = Relu(x)', '[abs] z = Abs(y)']);
    expect(findValueByName(model.graph, 'w')).toBeUndefined();
    expect(await run(model, [-1, 2])).toEqual({ y: [0, 2], z: [0, 2] });
  });

  it('adds and drops outputs, with the nodes that only they needed', () => {
    const model = given();
    editModel(model, [
      { kind: 'add-output', name: 'a' },
      { kind: 'drop-output', name: 'y' },
    ]);

    expect(nodesOf(model)).toEqual(['[add] a = Add(x, w)', '[relu] b = Relu(a)', '[abs] z = Abs(b)']);
  });

  it.each<[string, EditStep, string]>([
    ['a selector that means several', { kind: 'remove', removal: { select: { output: 're:[yz]' } } }, 'selector-matches-several'],
    ['an output that would be an input', { kind: 'remove', removal: { select: { output: 'y' } } }, 'cannot-bypass'],
    ['an output that is one', { kind: 'add-output', name: 'y' }, 'already-output'],
    ['an output that is none', { kind: 'drop-output', name: 'a' }, 'not-an-end'],
    ['an input that is read', { kind: 'drop-input', name: 'x' }, 'input-read'],
    ['a value that is not there', { kind: 'insert', insertion: { on: 'nowhere', op: 'Relu' } }, 'unknown-value'],
    ['a reader that does not read', { kind: 'insert', insertion: { on: 'a', op: 'Relu', readers: 'neg' } }, 'no-such-reader'],
  ])('refuses %s', (_, step, code) => {
    const text = step.kind === 'remove' && code === 'cannot-bypass' ? 'g (float x) => (float y) { [n] y = Neg(x) }' : TEXT;
    expect(failureOf([step], text)).toBe(code);
  });
});

describe('swapping a part', () => {
  const OTHER = 'h (float[1, 2] in) => (float[1, 2] out) <float[1] w = {100}> { [relu] t = Mul(in, w)  out = Ceil(t) }';

  it('inserts another model between two values, whose names are kept', async () => {
    const model = given();
    const [, second, ...rest] = editModel(model, [{ kind: 'swap', cut: { inputs: ['a'], outputs: ['b'] }, replacement: given(OTHER) }]);

    expect(nodesOf(model)).toEqual([
      '[add] a = Add(x, w)',
      '[relu_1] t = Mul(a, w_1)',
      'b = Ceil(t)',
      '[neg] y = Neg(b)',
      '[abs] z = Abs(b)',
    ]);
    expect([second, ...rest]).toEqual(['relu of the replacement renamed to relu_1', 'relu removed']);
    expect(await run(model, [0.25, 1])).toEqual({ y: [-1025, -2100], z: [1025, 2100] });
  });

  it.each([
    ['other numbers of ends', 'h (float[1, 2] in, float[1, 2] more) => (float[1, 2] out) { out = Add(in, more) }', 'swap-ends'],
    ['another element type', 'h (int64[1, 2] in) => (float[1, 2] out) { out = Cast<to = 1>(in) }', 'type-mismatch'],
    ['another size', 'h (float[1, 3] in) => (float[1, 2] out) { out = Relu(in) }', 'type-mismatch'],
    ['an output that is its input', 'h (float[1, 2] in) => (in) { u = Relu(in) }', 'swap-ends'],
  ])('refuses %s', (_, text, code) => {
    expect(failureOf([{ kind: 'swap', cut: { inputs: ['a'], outputs: ['b'] }, replacement: given(text) }])).toBe(code);
  });
});

describe('merging two models', () => {
  const SECOND = `<ir_version: 8, opset_import: ["": 12]> h (float[1, 2] y, float[1, 2] x) => (float[1, 2] sum)
    <float[2] w = {2, 2}> { [add] a = Add(y, x)  sum = Mul(a, w) }`;

  it('feeds inputs from outputs of the same names; names that are taken get a number, operator sets become one', async () => {
    const first = given(TEXT);
    const { model, renamed } = mergeModels(first, given(SECOND), { connect: {} });

    expect(renamed).toEqual([
      { from: 'w', to: 'w_1' },
      { from: 'x', to: 'x_1' },
      { from: 'a', to: 'a_1' },
      { from: 'add', to: 'add_1' },
    ]);
    expect(checkModel(model)).toEqual([]);
    expect([model.graph.inputs, model.graph.outputs].map(ids => ids.map(id => model.graph.values.get(id)?.name))).toEqual([
      ['x', 'x_1'],
      ['z', 'sum'],
    ]);
    expect(model.opsets.get('')).toBe(17);
    expect(printGraph(first.graph)).toBe(printGraph(given(TEXT).graph));
  });

  it('shares an input of both, and on request keeps connected outputs and adds prefixes to names', async () => {
    const { model } = mergeModels(given(), given(SECOND), { connect: { y: 'b', x: 'x' }, prefix: { second: 'head/' }, connected: 'keep' });

    expect(checkModel(model)).toEqual([]);
    expect(await run(model, [1, 2])).toEqual({ y: [-11, -22], z: [11, 22], 'head/sum': [24, 48] });
  });

  it.each([
    ['ends that do not fit', 'h (float[2] y) => (float[2] u) { u = Relu(y) }', {}, 'type-mismatch'],
    ['no connection', 'h (float[1, 2] p) => (float[1, 2] u) { u = Relu(p) }', {}, 'merge-unconnected'],
    ['an input that is none', SECOND, { q: 'y' }, 'not-an-end'],
    ['a value that is none', SECOND, { y: 'q' }, 'unknown-value'],
  ])('refuses %s', (_, text, connect, code) => {
    expect(() => mergeModels(given(), given(text), { connect: connect as Record<string, string> })).toThrow(
      expect.objectContaining({ code }),
    );
  });
});
