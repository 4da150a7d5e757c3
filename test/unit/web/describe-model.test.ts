/** Models as the page describes them, and how their graphs collapse. */
import fc from 'fast-check';
import { describeModel } from '../../../src/onnx/describe/describe-model.js';
import type { ModelView, NodeView } from '../../../src/onnx/describe/model-view.js';
import { ints } from '../../../src/onnx/ir/attribute.js';
import { makeLook } from '../../../src/web/page/model/box-look.js';
import { collapse, openScopes, scopeModel, scopesToOpen } from '../../../src/web/page/model/collapse.js';
import { makeNeck } from '../../support/neck.js';
import { floats, smallModel } from '../../support/small-model.js';

describe('a described model', () => {
  it('has every node and value once, with unique ids', () => {
    const model = makeNeck();
    const view = describeModel(model);
    expect(view.nodes).toHaveLength(model.graph.nodes.size);
    expect(new Set(view.nodes.map(({ id }) => id)).size).toBe(view.nodes.length);
    expect(Object.keys(view.values).sort()).toEqual([...model.graph.values.values()].map(({ name }) => name).sort());
  });

  it('states types, attributes, MACs and statistics of weights', () => {
    const weights = [1, 2, 3, 6];
    const view = describeModel(
      smallModel({
        inputs: { x: ['float32', [1, 1, 4, 4]] },
        constants: { w: floats([1, 1, 2, 2], weights) },
        nodes: [{ op: 'Conv', in: ['x', 'w'], out: ['y'], attributes: { strides: ints([2, 2]) } }],
        outputs: ['y'],
      }),
    );
    expect(view.nodes[0]).toMatchObject({
      op: 'Conv',
      inputs: ['x', 'w'],
      outputs: ['y'],
      attributes: { strides: '[2, 2]' },
      parameters: 4,
    });
    // 2 · 2 outputs, each of 4 products.
    expect([view.nodes[0]?.macs, view.macs]).toEqual([16, 16]);
    expect(view.values.y).toEqual({ dtype: 'float32', shape: '[1, 1, 2, 2]' });
    // Of 1, 2, 3, 6: mean 3, squared deviations 4 + 1 + 0 + 9 = 14.
    expect(view.values.w?.constant).toEqual({ elements: 4, bytes: 16, min: 1, max: 6, mean: 3, std: Math.sqrt(14 / 4) });
  });

  it('has no count of MACs where a free batch leaves those of a node open', () => {
    const free = smallModel({
      inputs: { x: ['float32', ['N', 1, 4, 4]] },
      constants: { w: floats([1, 1, 2, 2], [1, 2, 3, 6]) },
      nodes: [
        { op: 'Conv', in: ['x', 'w'], out: ['y'] },
        { op: 'Relu', in: ['y'], out: ['z'] },
      ],
      outputs: ['z'],
    });
    const view = describeModel(free);
    expect([view.macs, ...view.nodes.map(({ macs }) => macs)]).toEqual([null, null, 0]);
    const look = makeLook(view, 'macs', { unitOf: undefined, sqnrOf: undefined, compiled: undefined, totalMs: 0 }, undefined);
    const noteOf = (nodes: readonly NodeView[]) => look({ id: 'b', kind: 'scope', title: '', nodes, hidden: 0 }).note;
    const known = { ...node('known', ['x']), macs: 1_000 };
    expect([noteOf(view.nodes), noteOf([...view.nodes, known]), noteOf([known])]).toEqual([
      'MACs unknown',
      'at least 1,000 MAC',
      '1,000 MAC',
    ]);
  });
});

const node = (id: string, inputs: readonly string[]): NodeView => ({
  id,
  op: 'Relu',
  inputs,
  outputs: [`${id}:0`],
  attributes: {},
  macs: 0,
  parameters: 0,
});

const modelOf = (nodes: readonly NodeView[]): ModelView => ({
  name: '',
  producer: '',
  opsets: {},
  inputs: ['x'],
  outputs: [],
  nodes,
  values: { w: { constant: { elements: 1, bytes: 4 } } },
  parameters: 0,
  macs: 0,
});

describe('a collapsed graph', () => {
  const model = modelOf([
    node('a/b/one', ['x']),
    node('a/b/two', ['a/b/one:0', 'dq:0']),
    node('dq', ['w']),
    node('a/three', ['a/b/two:0']),
    node('four', ['a/three:0']),
  ]);
  const scoped = scopeModel(model);
  const titles = (open: readonly string[]): readonly string[] =>
    collapse(scoped, new Set(open)).boxes.map(({ kind, title, nodes }) => (kind === 'scope' ? title : (nodes[0]?.id ?? '')));

  it('draws closed scopes as boxes, and opens one at a time', () => {
    expect(titles([])).toEqual(['a', 'four']);
    expect(titles(['a'])).toEqual(['a/b', 'a/three', 'four']);
    expect(titles(['a', 'a/b'])).toEqual(['a/b/one', 'a/b/two', 'a/three', 'four']);
    // A scope inside a closed one is closed.
    expect(titles(['a/b'])).toEqual(['a', 'four']);
    expect(scopesToOpen(scoped, 'a/b/two')).toEqual(['a', 'a/b']);
  });

  it('has an edge between boxes where their nodes have one, none from a box to itself, and leaves constants out', () => {
    expect(collapse(scoped, new Set(['a'])).edges).toEqual([
      { from: 's a/b', to: 'n a/three' },
      { from: 'n a/three', to: 'n four' },
    ]);
    expect(collapse(scoped, new Set(['a'])).boxes[0]?.hidden).toBe(1);
  });

  it('of any graph has every node in one box, and at most as many boxes as wanted where the outermost scopes are so few', () => {
    const name = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 3 }).map(parts => parts.join('/'));
    fc.assert(
      fc.property(fc.array(name, { minLength: 1, maxLength: 60 }), fc.integer({ min: 3, max: 40 }), (scopes, most) => {
        const nodes = scopes.map((scope, index) =>
          node(
            `${scope}${scope === '' ? '' : '/'}n${index}`,
            index === 0 ? ['x'] : [`${scopes[index - 1]}${scopes[index - 1] === '' ? '' : '/'}n${index - 1}:0`],
          ),
        );
        const any = scopeModel(modelOf(nodes));
        const closed = collapse(any, new Set()).boxes.length;
        const { boxes } = collapse(any, openScopes(any, most));
        expect(boxes.flatMap(box => box.nodes.map(({ id }) => id)).sort()).toEqual(nodes.map(({ id }) => id).sort());
        expect(boxes.length).toBeLessThanOrEqual(Math.max(most, closed));
      }),
    );
  });

  it('of 2,300 nodes without scopes is an overview of at most 300 boxes', () => {
    const many = scopeModel(
      modelOf(Array.from({ length: 2_300 }, (_, index) => node(`n${index}`, index === 0 ? ['x'] : [`n${index - 1}:0`]))),
    );
    const { boxes } = collapse(many, openScopes(many, 80));
    expect(boxes.length).toBeLessThanOrEqual(300);
    expect(boxes.flatMap(box => box.nodes)).toHaveLength(2_300);
  });
});
