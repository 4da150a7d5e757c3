import { selectNodes } from '../../../src/onnx/select-nodes.js';
import { smallGraph } from '../quant/small-graph.js';

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
