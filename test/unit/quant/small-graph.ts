/** A text form for small test models: one line per node, values by name. */
import { addInitializer, addInput, addNode, findValueByName, makeModel } from '../../../src/onnx/ir/edit.js';
import type { Attribute, Model, Node, Value } from '../../../src/onnx/ir/model.js';
import type { Range } from '../../../src/quant/integers/qparams.js';
import type { Observation } from '../../../src/quant/range/range-method.js';
import { encodeRawTensor } from '../../../src/tensor/raw-tensor.js';
import { makeTensor } from '../../../src/tensor/tensor.js';

export interface SmallGraph {
  readonly model: Model;
  input(name: string, dims: readonly (number | string)[]): void;
  floats(name: string, dims: readonly number[], values: ArrayLike<number>): void;
  ints(name: string, values: readonly number[]): void;
  /** "Conv x w b -> y"; '_' omits an input. */
  node(line: string, attributes?: Readonly<Record<string, Attribute>>): Node;
  output(...names: string[]): void;
}

export function smallGraph(opset = 17): SmallGraph {
  const model = makeModel({ opset, graphName: 'small' });
  const { graph } = model;
  return {
    model,
    input: (name, dims) => void addInput(model, graph, name, { kind: 'tensor', dtype: 'float32', dims }),
    floats: (name, dims, values) =>
      void addInitializer(model, graph, name, encodeRawTensor(makeTensor('float32', dims, Float32Array.from(values)))),
    ints: (name, values) =>
      void addInitializer(
        model,
        graph,
        name,
        encodeRawTensor(makeTensor('int64', [values.length], BigInt64Array.from(values.map(BigInt)))),
      ),
    node(line, attributes = {}) {
      const [left = '', right = ''] = line.split('->');
      const [opType = '', ...inputs] = left.trim().split(/\s+/);
      const outputs = right.trim().split(/\s+/);
      const ids = inputs.map(name => (name === '_' ? undefined : valueNamed(model, name).id));
      const node = addNode(model, graph, { opType, name: `${opType}_${outputs[0]}`, inputs: ids, outputs, attributes });
      for (const id of node.outputs) {
        const value = id === undefined ? undefined : graph.values.get(id);
        if (value !== undefined) value.type = { kind: 'tensor', dtype: 'float32', dims: undefined };
      }
      return node;
    },
    output: (...names) => void graph.outputs.push(...names.map(name => valueNamed(model, name).id)),
  };
}

export function valueNamed(model: Model, name: string): Value {
  const value = findValueByName(model.graph, name);
  if (value === undefined) throw new Error(`no value "${name}"`);
  return value;
}

/** One known range for every value that is not constant, except those in the argument. */
export function rangesOf(model: Model, otherwise: Range, named: Readonly<Record<string, Range>> = {}): Map<Value['id'], Observation> {
  const activations = [...model.graph.values.values()].filter(value => value.constant === undefined);
  return new Map(activations.map(value => [value.id, { kind: 'known', range: named[value.name] ?? otherwise }]));
}

/** "Conv(a, b) -> c" per node, in order. */
export function nodeLines({ graph }: Model): string[] {
  const name = (id: Value['id'] | undefined) => (id === undefined ? '_' : (graph.values.get(id)?.name ?? '?'));
  return [...graph.nodes.values()].map(
    node => `${node.opType}(${node.inputs.map(name).join(', ')}) -> ${node.outputs.map(name).join(', ')}`,
  );
}

/** An image `x`, and weight `w` and bias `b` of a Conv on it, with no node yet. */
export function convGraph(): SmallGraph {
  const small = smallGraph();
  small.input('x', [1, 1, 2, 2]);
  small.floats('w', [1, 1, 1, 1], [0.5]);
  small.floats('b', [1], [0.25]);
  return small;
}
