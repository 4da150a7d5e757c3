/** Tests of the topological order of nodes. */
import { cloneModel } from '../../../../src/onnx/ir/clone.js';
import { addValue, findValueByName } from '../../../../src/onnx/ir/edit.js';
import { makeNameScope } from '../../../../src/onnx/ir/name-scope.js';
import { sortTopologically } from '../../../../src/onnx/ir/sort.js';
import { parseModelText } from '../../../../src/onnx/text/parse-text.js';
import { printModel } from '../../../../src/onnx/text/print.js';
import { failureOf } from '../../../support/error-code.js';

const operatorsOf = (text: string): string[] => {
  const { graph } = parseModelText(text);
  sortTopologically(graph);
  return [...graph.nodes.values()].map(node => node.opType);
};

describe('topological order', () => {
  it('leaves a sorted graph as it is', () => {
    expect(operatorsOf('g (float x) => (c) { b = B(x) a = A(x) c = C(a, b) }')).toEqual(['B', 'A', 'C']);
  });

  it('moves a node up to just before the first that needs it, also from inside of a sub-graph', () => {
    expect(operatorsOf('g (float x) => (c) { z = Z(x) c = C<body = t () => (r) { r = R(b) }>(x) a = A(x) b = B(a) }')).toEqual([
      'Z',
      'A',
      'B',
      'C',
    ]);
  });

  it('names the nodes of a cycle', async () => {
    const { code, message } = await failureOf(() => operatorsOf('g (float x) => (c) { s = S(x) a = A(s, c) [bee] b = B(a) c = C(b) }'));

    expect(code).toBe('graph-cycle');
    expect(message).toBe('graph "g" has a cycle: B "bee" → C "c" → A "a" → B "bee"');
  });

  it('does not overflow the stack on a long chain', () => {
    const chain = Array.from({ length: 20_000 }, (_, i) => `v${i + 1} = Relu(v${i})`)
      .reverse()
      .join('\n');

    expect(operatorsOf(`g (float v0) => (v20000) { ${chain} }`)).toHaveLength(20_000);
  });
});

describe('a cloned model', () => {
  it('can be edited, sub-graphs too, while the original stays', () => {
    const model = parseModelText('g (bool c) => (y) <float[1] w = {1}> { y = If<then_branch = t () => (r) { r = Relu(w) }>(c) }');
    const before = printModel(model);

    const copy = cloneModel(model);
    const [node] = copy.graph.nodes.values();
    const branch = node?.attributes.get('then_branch');
    if (branch?.kind === 'graph') branch.value.nodes.clear();
    node?.inputs.push(undefined);
    node?.attributes.delete('else_branch');
    addValue(copy, copy.graph, 'more');
    copy.graph.inputs.pop();
    copy.opsets.set('x', 1);

    expect(printModel(model)).toBe(before);
    expect(printModel(copy)).not.toBe(before);
    expect(findValueByName(copy.graph, 'w')?.constant).toBe(findValueByName(model.graph, 'w')?.constant);
  });
});

describe('a name scope', () => {
  it('gives names that neither the graph, nor a graph inside, nor an earlier answer has', () => {
    const scope = makeNameScope(parseModelText('g (bool c) => (y) { a_1 = F(c) y = If<then_branch = t () => (a) { a = G() }>(c) }').graph);

    expect([scope.take('a'), scope.take('a'), scope.take('b'), scope.take('b')]).toEqual(['a_2', 'a_3', 'b', 'b_1']);
  });
});
