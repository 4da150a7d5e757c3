/** Addresses of values depend on the computation, not on names. */
import { replaceNodeOrder } from '../../../../src/onnx/ir/edit.js';
import type { Model } from '../../../../src/onnx/ir/model.js';
import { addressValues } from '../../../../src/quant/calibration/value-address.js';
import { smallGraph } from '../small-graph.js';

function build(weight = 2): Model {
  const small = smallGraph();
  small.input('x', [2]);
  small.floats('w', [2], [1, weight]);
  small.node('Relu x -> a');
  small.node('Sigmoid x -> b');
  small.node('Mul a w -> c');
  small.node('Add c b -> y');
  small.output('y');
  return small.model;
}

const byName = (model: Model) =>
  Object.fromEntries([...addressValues(model)].map(([id, address]) => [model.graph.values.get(id)?.name ?? '', address]));

describe('value addresses', () => {
  it('every input and computed value has an address, constants have none', () => {
    const addresses = byName(build());
    expect(Object.keys(addresses)).toEqual(['x', 'a', 'b', 'c', 'y']);
    expect(new Set(Object.values(addresses)).size).toBe(5);
  });

  it('do not depend on names or node order', () => {
    const other = build();
    const [relu, sigmoid, ...rest] = [...other.graph.nodes.values()];
    if (relu === undefined || sigmoid === undefined) throw new Error('two nodes');
    replaceNodeOrder(other.graph, [sigmoid, relu, ...rest]);
    const addresses = byName(other);
    for (const value of other.graph.values.values()) value.name = `renamed ${value.name}`;
    expect(Object.fromEntries(Object.entries(byName(other)).map(([name, address]) => [name.slice(8), address]))).toEqual(addresses);
    expect(addresses).toEqual(byName(build()));
  });

  it('depend only on the weights that a value is computed from', () => {
    const [one, other] = [byName(build(2)), byName(build(3))];
    expect(Object.keys(one).filter(name => one[name] !== other[name])).toEqual(['c', 'y']);
  });
});
