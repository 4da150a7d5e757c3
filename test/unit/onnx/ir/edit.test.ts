/** Tests of graph edits. */
import { addInitializer, addInput, addNode, addValue, freshName, makeModel, replaceAllUses } from '../../../../src/onnx/ir/edit.js';
import { parseModelText } from '../../../../src/onnx/text/parse-text.js';
import { printGraph } from '../../../../src/onnx/text/print.js';
import { failureOf } from '../../../support/error-code.js';

describe('editing a graph', () => {
  it('builds values, initializers and nodes in place', () => {
    const model = makeModel({ opset: 17, graphName: 'g' });
    const x = addInput(model, model.graph, 'x', { kind: 'tensor', dtype: 'float32', dims: [1] });
    const b = addInitializer(model, model.graph, 'b', { dtype: 'float32', dims: [1], bytes: new Uint8Array(4) });
    const last = addNode(model, model.graph, { opType: 'Add', inputs: [x.id, b.id], outputs: ['y'] });
    addNode(model, model.graph, { opType: 'Neg', inputs: [x.id], outputs: [freshName(model.graph, 'y')], before: last.id });

    expect(printGraph(model.graph)).toBe('g (float[1] x) => ()\n<\n  float[1] b = {0.0}\n>\n{\n  y_1 = Neg(x)\n  y = Add(x, b)\n}\n');
  });

  it('replaces the uses of a value in nodes, sub-graphs and outputs', () => {
    const model = parseModelText('g (bool c, float x) => (h) { h = Relu(x) k = If<then_branch = t () => (r) { r = Neg(h) }>(c) }');
    const [x, h] = ['x', 'h'].map(name => [...model.graph.values.values()].find(value => value.name === name)?.id);
    if (x === undefined || h === undefined) throw new Error('no values');

    replaceAllUses(model.graph, h, x);

    expect(printGraph(model.graph)).toContain('=> (x)');
    expect(printGraph(model.graph)).toContain('r = Neg(x)');
  });

  it('refuses a value without a name', async () => {
    const model = makeModel({ opset: 17, graphName: 'g' });

    expect((await failureOf(() => addValue(model, model.graph, ''))).code).toBe('empty-name');
  });
});
