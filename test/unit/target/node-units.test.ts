/** Node units: which nodes are assigned as a whole. */
import { ints } from '../../../src/onnx/ir/attribute.js';
import type { Model } from '../../../src/onnx/ir/model.js';
import { evaluate } from '../../../src/runtime/session/evaluate.js';
import { findNodeUnits } from '../../../src/target/units/node-units.js';
import { prepareModel } from '../../../src/target/units/prepare-model.js';
import { qdqGraph } from '../../support/qdq-graph.js';
import { floats, randomConstant } from '../../support/small-model.js';

/** "quantized Conv+Relu(DQ, DQ, Conv, Relu, Q)" per unit. */
async function unitsOf(model: Model): Promise<string[]> {
  const { units } = findNodeUnits(await prepareModel(model, evaluate));
  const short: Readonly<Record<string, string>> = { QuantizeLinear: 'Q', DequantizeLinear: 'DQ' };
  return units.map(({ kind, target, activation, nodes }) => {
    const members = nodes.map(node => short[node.opType] ?? node.opType).join(' ');
    return `${kind} ${short[target.opType] ?? target.opType}${activation === undefined ? '' : `+${activation.opType}`}: ${members}`;
  });
}

describe('node units', () => {
  it('contain the DQ of input, weight and bias, the operator, its activation function and Q', async () => {
    const graph = qdqGraph();
    graph.input('x', [1, 2, 4, 4]);
    graph.constant('w', [2, 2, 1, 1]);
    graph.constant('b', [2], { dtype: 'int32' });
    graph.unit('Conv', ['x', 'w', 'b'], ['y'], { activation: 'Relu' });
    graph.output('y');
    expect(await unitsOf(graph.build())).toEqual(['quantize Q: Q', 'quantized Conv+Relu: DQ DQ DQ Conv Relu Q', 'dequantize DQ: DQ']);
  });

  it('have their own DQ if several units read one, and so does a model output', async () => {
    const graph = qdqGraph();
    graph.input('x', [1, 2, 4, 4]);
    graph.unit('Relu', ['x'], ['y']);
    graph.unit('Add', ['y', 'y'], ['z']);
    graph.output('y', 'z');
    const model = graph.build();
    // As exporters write it: one DQ for all readers.
    const shared = [...model.graph.nodes.values()].filter(node => node.opType === 'DequantizeLinear' && node.inputs[0] !== undefined);
    const add = [...model.graph.nodes.values()].find(node => node.opType === 'Add');
    const end = shared.find(node => node.name === 'dq_y_out');
    if (add === undefined || end?.outputs[0] === undefined) throw new Error('the graph has no Add or no end');
    add.inputs = [end.outputs[0], end.outputs[0]];
    expect((await unitsOf(model)).sort()).toEqual([
      'dequantize DQ: DQ',
      'dequantize DQ: DQ',
      'quantize Q: Q',
      'quantized Add: DQ Add Q',
      'quantized Relu: DQ Relu Q',
    ]);
  });

  it('include the Q and DQ of a float constant weight', async () => {
    const graph = qdqGraph();
    graph.input('x', [1, 2, 4, 4]);
    graph.constant('w', [2, 2, 1, 1]);
    graph.unit('Conv', ['x', 'w'], ['y']);
    graph.output('y');
    const model = graph.build();
    const weight = [...model.graph.values.values()].find(value => value.name === 'w');
    const q = [...model.graph.nodes.values()].find(node => node.name === 'q_x');
    if (weight === undefined || q === undefined) throw new Error('the graph has no weight');
    // w becomes the output of QuantizeLinear.
    const float = { ...weight, id: model.nextId++ as never, name: 'w_float', constant: randomConstant([2, 2, 1, 1]) };
    model.graph.values.set(float.id, float);
    const ids = new Map([...model.graph.values.values()].map(value => [value.name, value.id]));
    const node = {
      ...q,
      id: model.nextId++ as never,
      name: 'q_w',
      inputs: [float.id, ids.get('w_s'), ids.get('w_z')],
      outputs: [weight.id],
      attributes: new Map(),
    };
    weight.constant = undefined;
    weight.producer = node.id;
    model.graph.nodes.set(node.id, node);
    expect((await unitsOf(model)).sort()).toEqual(['dequantize DQ: DQ', 'quantize Q: Q', 'quantized Conv: DQ Q DQ Conv Q'].sort());
  });

  it('exclude nodes with a float input or output, with Q and DQ around them as separate units', async () => {
    const graph = qdqGraph();
    graph.input('x', [1, 2, 4, 4]);
    graph.plain('Sigmoid', ['x'], ['s']);
    graph.unit('MaxPool', ['s'], ['y'], { attributes: { kernel_shape: ints([2, 2]) } });
    graph.output('y');
    expect(await unitsOf(graph.build())).toEqual([
      'quantize Q: Q',
      'dequantize DQ: DQ',
      'plain Sigmoid: Sigmoid',
      'plain MaxPool: MaxPool',
      'quantize Q: Q',
      'dequantize DQ: DQ',
    ]);
  });

  it('include DQ → Q pairs, several outputs, and an average with its constant factor', async () => {
    const graph = qdqGraph();
    graph.input('x', [1, 2, 4, 4]);
    graph.unit('Split', ['x'], ['a', 'b'], { attributes: { axis: { kind: 'int', value: 1n } } });
    graph.float('factor', floats([], [1.0048828125]));
    graph.unit('GlobalAveragePool', ['a'], ['g'], { activation: 'Mul', activationInputs: ['factor'] });
    graph.requantize('b', 'c', { scale: 2 ** -3 });
    graph.output('c', 'g');
    expect(await unitsOf(graph.build())).toEqual([
      'quantize Q: Q',
      'quantized Split: DQ Split Q Q',
      'quantized GlobalAveragePool+Mul: DQ GlobalAveragePool Mul Q',
      'requantize DQ: DQ Q',
      'dequantize DQ: DQ',
      'dequantize DQ: DQ',
    ]);
  });

  it('come after all their producers, also if one of two outputs is quantized late', async () => {
    const graph = qdqGraph();
    graph.input('x', [1, 2, 4, 4]);
    graph.unit('Split', ['x'], ['a', 'b'], { attributes: { axis: { kind: 'int', value: 1n } } });
    graph.unit('Relu', ['a'], ['y']);
    graph.output('y', 'b');
    const model = graph.build();
    const nodes = [...model.graph.nodes.values()];
    const late = nodes.find(node => node.name === 'q_b');
    const end = nodes.find(node => node.name === 'dq_b_out');
    if (late === undefined || end === undefined) throw new Error('no such node');
    for (const node of [late, end]) {
      model.graph.nodes.delete(node.id);
      model.graph.nodes.set(node.id, node);
    }
    const { units, before } = findNodeUnits(await prepareModel(model, evaluate));
    for (const unit of units) for (const other of before[unit.id] ?? []) expect(other).toBeLessThan(unit.id);
  });
});
