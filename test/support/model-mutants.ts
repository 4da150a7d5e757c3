/** Ways to make a sound model wrong, as exporters and editors do. Each changes one thing, the same on every run. */
import { float, int, string } from '../../src/onnx/ir/attribute.js';
import type { Attribute, Graph, Model, Node, Value } from '../../src/onnx/ir/model.js';
import type { DType } from '../../src/tensor/dtype.js';

/** What the checker may say of a mutant that is wrong; others may be said beside it, as one mistake leads to another. */
export interface Mutation {
  readonly name: string;
  readonly codes: readonly string[];
  /** Changes `model` in place; 'nothing' where it has no such place. */
  readonly change: (model: Model) => 'changed' | 'nothing';
}

const OF_OLDER_FORM = [
  'operator-too-new',
  'unknown-attribute',
  'input-count',
  'output-count',
  'missing-attribute',
  'attribute-kind',
  'input-type',
  'output-type',
  'type-conflict',
];

export const MUTATIONS: readonly Mutation[] = [
  {
    name: 'operator renamed',
    codes: ['unknown-operator'],
    change: onNode(anyNode, node => {
      node.opType += 'x';
    }),
  },
  {
    name: 'last input dropped',
    codes: ['input-count', 'missing-input'],
    change: onNode(hasInputs, node => {
      node.inputs.pop();
    }),
  },
  {
    name: 'first input left out',
    codes: ['input-count', 'missing-input'],
    change: onNode(hasInputs, node => {
      node.inputs[0] = undefined;
    }),
  },
  {
    name: 'input repeated at the end',
    codes: ['input-count', 'input-type', 'type-conflict'],
    change: onNode(hasInputs, node => {
      node.inputs.push(node.inputs[0]);
    }),
  },
  {
    name: 'attribute added',
    codes: ['unknown-attribute'],
    change: onNode(anyNode, node => {
      node.attributes.set('bogus', int(1));
    }),
  },
  { name: 'attribute of another kind', codes: ['attribute-kind'], change: onNode(hasAttributes, setKind) },
  {
    name: 'attribute dropped',
    codes: ['missing-attribute'],
    change: onNode(hasAttributes, node => {
      node.attributes.delete(firstOf(node));
    }),
  },
  { name: 'input of another type', codes: ['input-type', 'type-conflict'], change: ({ graph }) => retype(graph, graph.inputs) },
  { name: 'output of another type', codes: ['output-type', 'type-conflict'], change: ({ graph }) => retype(graph, graph.outputs) },
  { name: 'name used twice', codes: ['duplicate-name'], change: ({ graph }) => shareName(graph) },
  {
    name: 'cycle',
    codes: ['cycle'],
    change: onNode(hasInputs, node => {
      node.inputs[0] = node.outputs[0];
    }),
  },
  { name: 'operator set 1', codes: OF_OLDER_FORM, change: importSet1 },
  {
    name: 'operator set not imported',
    codes: ['opset-missing'],
    change: onNode(anyNode, node => {
      node.domain = 'not.imported';
    }),
  },
];

function anyNode(): boolean {
  return true;
}

function importSet1({ opsets }: Model): 'changed' | 'nothing' {
  if (!opsets.has('')) return 'nothing';
  opsets.set('', 1);
  return 'changed';
}

function onNode(fits: (node: Node) => boolean, change: (node: Node) => void): Mutation['change'] {
  return ({ graph }) => {
    const node = [...graph.nodes.values()].find(one => one.domain === '' && fits(one));
    if (node === undefined) return 'nothing';
    change(node);
    return 'changed';
  };
}

function hasInputs({ inputs, outputs }: Node): boolean {
  return inputs[0] !== undefined && outputs[0] !== undefined;
}

function hasAttributes({ attributes }: Node): boolean {
  return attributes.size > 0;
}

function firstOf({ attributes }: Node): string {
  return [...attributes.keys()][0] ?? '';
}

function setKind(node: Node): void {
  const name = firstOf(node);
  const others: Readonly<Partial<Record<Attribute['kind'], Attribute>>> = { int: float(1), float: int(1) };
  node.attributes.set(name, others[node.attributes.get(name)?.kind ?? 'ints'] ?? string('other'));
}

const OTHER: Readonly<Partial<Record<DType, DType>>> = { float32: 'string', int64: 'float64', bool: 'float32', string: 'int32' };

function retype(graph: Graph, ids: readonly Value['id'][]): 'changed' | 'nothing' {
  for (const id of ids) {
    const value = graph.values.get(id);
    if (value?.type?.kind !== 'tensor' || value.type.dtype === undefined || value.constant !== undefined) continue;
    value.type = { ...value.type, dtype: OTHER[value.type.dtype] ?? 'bool' };
    return 'changed';
  }
  return 'nothing';
}

/** The first output of the last node takes the name of the first input. */
function shareName(graph: Graph): 'changed' | 'nothing' {
  const [first] = graph.inputs;
  const node = [...graph.nodes.values()].at(-1);
  const output = node?.outputs[0];
  const [from, to] = [first, output].map(id => (id === undefined ? undefined : graph.values.get(id)));
  if (from === undefined || to === undefined) return 'nothing';
  to.name = from.name;
  return 'changed';
}
