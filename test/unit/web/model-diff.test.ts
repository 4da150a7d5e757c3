/** What differs between two models, for the view "Model". */
import type { ModelView, NodeView, ValueView } from '../../../src/onnx/describe/model-view.js';
import { compareModels } from '../../../src/web/page/model/model-diff.js';

const node = (id: string, op: string, inputs: readonly string[], output: string, attributes: Record<string, string> = {}): NodeView => ({
  id,
  op,
  inputs,
  outputs: [output],
  attributes,
  macs: 0,
  parameters: 0,
});
const model = (nodes: readonly NodeView[], values: Record<string, ValueView> = {}): ModelView => ({
  name: '',
  producer: '',
  opsets: {},
  inputs: ['x'],
  outputs: [],
  nodes,
  values,
  parameters: 0,
  macs: 0,
});
const weight = (mean: number): ValueView => ({
  dtype: 'float32',
  shape: '[4]',
  constant: { elements: 4, bytes: 16, min: 0, max: 1, mean, std: 0.5 },
});

it('finds no difference in a model and itself', () => {
  const one = model([node('a', 'Conv', ['x', 'w'], 'y', { pads: '[1]' })], { w: weight(0.5) });
  expect(compareModels(one, one).changes).toEqual([]);
});

it('names added, removed and changed nodes, with what changed', () => {
  const before = model(
    [node('a', 'Conv', ['x', 'w'], 'y', { pads: '[1]' }), node('b', 'Relu', ['y'], 'z'), node('c', 'Sigmoid', ['z'], 'o')],
    {
      w: weight(0.5),
      y: { dtype: 'float32', shape: '[1, 4]' },
    },
  );
  const after = model(
    [node('a', 'Conv', ['x', 'v'], 'y', { pads: '[2]' }), node('n', 'Clip', ['y'], 'z'), node('c', 'Sigmoid', ['z'], 'o')],
    {
      v: weight(0.25),
      y: { dtype: 'float32', shape: '[1, 5]' },
    },
  );
  const { changes, before: old, after: now, partners } = compareModels(before, after);
  expect(changes.map(({ kind, id, what }) => [kind, id, what])).toEqual([
    ['changed', 'a', 'pads: [1] → [2]; values of input 2; output: float32 [1, 4] → float32 [1, 5]'],
    ['removed', 'b', 'removed'],
    ['added', 'n', 'added'],
  ]);
  expect([...old]).toEqual([
    ['a', 'changed'],
    ['b', 'removed'],
  ]);
  expect([...now]).toEqual([
    ['a', 'changed'],
    ['n', 'added'],
  ]);
  expect(partners.get('c')).toBe('c');
});

it('looks through Q and DQ: a quantized model adds these nodes, and its other nodes read what they read before', () => {
  const before = model([node('a', 'Relu', ['x'], 'y'), node('b', 'Sigmoid', ['y'], 'z')]);
  const after = model([
    node('a', 'Relu', ['x'], 'y'),
    node('q', 'QuantizeLinear', ['y', 's', 'p'], 'yq'),
    node('d', 'DequantizeLinear', ['yq', 's', 'p'], 'yd'),
    node('b', 'Sigmoid', ['yd'], 'z'),
  ]);
  expect(compareModels(before, after).changes.map(({ kind, id }) => `${kind} ${id}`)).toEqual(['added q', 'added d']);
});

it('pairs a renamed node by its output, and names an input that is another value', () => {
  const before = model([node('a', 'Relu', ['x'], 'y'), node('b', 'Add', ['y', 'x'], 'z')]);
  const after = model([node('renamed', 'Relu', ['x'], 'y'), node('b', 'Add', ['y', 'y'], 'z')]);
  expect(compareModels(before, after).changes).toEqual([{ kind: 'changed', op: 'Add', id: 'b', partner: 'b', what: 'input 2: x → y' }]);
});
