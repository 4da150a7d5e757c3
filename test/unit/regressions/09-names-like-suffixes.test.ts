/** Names that look like what a tool appends stay themselves: stripping the characters of "_Output" from a name's ends hits the wrong node. */

import { planQuantization } from '../../../src/quant/placement/plan-quantization.js';
import { insertQdq } from '../../../src/quant/qdq/insert-qdq.js';
import { listQdqTensors } from '../../../src/quant/qdq/qdq-tensors.js';
import { explainTensor } from '../../../src/quant/report/explain-tensor.js';
import { findExcluded } from '../../../src/quant/scheme/overrides.js';
import { PRESETS } from '../../../src/quant/scheme/scheme.js';
import { rangesOf, smallGraph } from '../quant/small-graph.js';

const NAMES = [
  'tuptuO_',
  'input_Output',
  'layout',
  'put_QuantizeLinear_Input',
  'x_DequantizeLinear_Output',
  'w_quantized',
  'x',
  'put',
] as const;

function chain() {
  const small = smallGraph();
  small.input('start', [1, 2]);
  for (const [i, name] of NAMES.entries()) small.node(`Sigmoid ${NAMES[i - 1] ?? 'start'} -> ${name}`);
  small.output('put', 'layout');
  return small.model;
}

describe('names that end like suffixes', () => {
  const model = chain();
  const observations = rangesOf(model, { low: 0, high: 1 });
  insertQdq(model, planQuantization(model.graph, { scheme: PRESETS.u8s8, observations, excluded: new Set() }), 'ai.onnx');

  it('each tensor keeps its own unique name in a quantized model', () => {
    expect(listQdqTensors(model.graph).map(({ name }) => name)).toEqual(['start', ...NAMES]);
  });

  it.each(NAMES.map((name, i) => [name, NAMES[i + 1]]))('%s is found, with the node that reads it', (name, next) => {
    const found = explainTensor(model.graph, undefined, name);
    expect(found).toMatchObject({
      kind: 'quantized',
      tensor: { name, producer: { node: `Sigmoid_${name}` }, consumers: next === undefined ? [] : [{ node: `Sigmoid_${next}` }] },
    });
  });

  it('an exclusion applies only to the node that it names', () => {
    const { graph } = chain();
    for (const name of NAMES) {
      const [id] = findExcluded(graph, [{ tensor: name }]).values;
      expect([...graph.values.values()].find(value => value.id === id)?.name).toBe(name);
    }
  });
});
