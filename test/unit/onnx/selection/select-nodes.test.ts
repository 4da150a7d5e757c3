/** Tests of node selectors. */
import { selectNodes } from '../../../../src/onnx/selection/select-nodes.js';
import { smallGraph } from '../../quant/small-graph.js';

function graph() {
  const small = smallGraph();
  small.input('x', [1]);
  small.node('Relu x -> a/relu');
  small.node('Sigmoid a/relu -> a/gate');
  small.node('Relu a/gate -> b/relu');
  return small.model.graph;
}

describe('node selectors', () => {
  it.each([
    ['Relu_a/relu', ['Relu_a/relu']],
    ['*relu', ['Relu_a/relu', 'Relu_b/relu']],
    ['*_a/*', ['Relu_a/relu', 'Sigmoid_a/gate']],
    [{ op: 'Relu' }, ['Relu_a/relu', 'Relu_b/relu']],
    [{ op: 'Relu', output: 'b*' }, ['Relu_b/relu']],
    ['*', ['Relu_a/relu', 'Sigmoid_a/gate', 'Relu_b/relu']],
  ])('%j means %j', (selector, names) => {
    expect(selectNodes(graph(), selector).map(node => node.name)).toEqual(names);
  });

  it.each([
    ['Relu_a/rely', 'did you mean "Relu_a/relu" or "Relu_b/relu"?'],
    [{ op: 'Sigmoyd' }, 'did you mean "Sigmoid"?'],
    [{ op: 'Sigmoid', output: 'b/*' }, undefined],
    ['Relu*Relu_a/relu', undefined],
  ])('%j matches nothing, which is an error', (selector, help) => {
    expect(() => selectNodes(graph(), selector)).toThrow(
      expect.objectContaining({ code: 'selector-matches-nothing', ...(help && { help }) }),
    );
  });
});

describe('selectors by neighbors of a node', () => {
  it.each([
    ['re:^Relu_[ab]', ['Relu_a/relu', 'Relu_b/relu']],
    [{ op: 'Relu', producer: { op: 'Sigmoid', input: 'a/*' } }, ['Relu_b/relu']],
    [{ consumer: { op: 'Sigmoid', consumer: 'Relu' } }, ['Relu_a/relu']],
    [{ op: 're:^(Relu|Sigmoid)$', inputs: [{ op: 'Relu' }] }, ['Sigmoid_a/gate']],
    [{ op: 'Relu', inputs: [null] }, ['Relu_a/relu', 'Relu_b/relu']],
  ])('%j means %j', (selector, names) => {
    expect(selectNodes(graph(), selector).map(node => node.name)).toEqual(names);
  });

  it('that almost match report the nearest nodes and their differences', () => {
    expect(() => selectNodes(graph(), { op: 'Relu', producer: 'Sigmoid', attributes: { axis: 1 } })).toThrow(
      expect.objectContaining({
        code: 'selector-matches-nothing',
        help: expect.stringContaining('nearest: Relu "Relu_b/relu" (its axis is absent)'),
      }),
    );
  });

  it.each([['re:('], [{ producer: { kind: 'Relu' } as object }]])('%j is no selector', selector => {
    expect(() => selectNodes(graph(), selector)).toThrow(expect.objectContaining({ code: 'bad-selector' }));
  });
});
