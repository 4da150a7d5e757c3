/** Which nodes does a user mean? Selectors by name, operator or both; one that matches nothing is an error, never silence. */
import { describeNear, findNear } from '../base/did-you-mean.js';
import { indexUses } from './ir/edit.js';
import type { Graph, Node } from './ir/model.js';
import { makeNameMatcher } from './name-pattern.js';
import { OnnxError } from './onnx-error.js';

/**
 * Text is a node's name. In an object, every field given must match: `name` the node's name, `op` its operator, `output` a value that it gives,
 * `input` a value that it reads, `producer` the operator of a node that makes one of its inputs, `consumer` that of a node that reads one of its
 * outputs. In all of them `*` stands for any characters. `attributes`: each attribute named has this value.
 */
export type NodeSelector = string | NodeFields;

export interface NodeFields {
  readonly name?: string;
  readonly op?: string;
  readonly output?: string;
  readonly input?: string;
  readonly producer?: string;
  readonly consumer?: string;
  readonly attributes?: Readonly<Record<string, number | string | readonly number[]>>;
}

/** The JSON Schema of a selector, for the params of plugins. */
export const NODE_SELECTOR_SCHEMA = {
  anyOf: [
    { type: 'string', minLength: 1 },
    {
      type: 'object',
      additionalProperties: false,
      minProperties: 1,
      properties: {
        name: { type: 'string', minLength: 1 },
        op: { type: 'string', minLength: 1 },
        output: { type: 'string', minLength: 1 },
        input: { type: 'string', minLength: 1 },
        producer: { type: 'string', minLength: 1 },
        consumer: { type: 'string', minLength: 1 },
        attributes: {
          type: 'object',
          minProperties: 1,
          additionalProperties: { anyOf: [{ type: 'number' }, { type: 'string' }, { type: 'array', items: { type: 'number' } }] },
        },
      },
    },
  ],
  description:
    'A node: its name, or {name, op, output, input, producer, consumer, attributes} that must all match. `*` stands for any characters; producer and consumer are operators.',
} as const;

/**
 * The nodes of `graph` (not of its sub-graphs) that `selector` means, in graph order; at least one.
 * @throws OnnxError `selector-matches-nothing`, with the closest name.
 */
export function selectNodes(graph: Graph, selector: NodeSelector): Node[] {
  const fields = typeof selector === 'string' ? { name: selector } : selector;
  const matches = makeMatcher(graph, fields);
  const found = [...graph.nodes.values()].filter(matches);
  if (found.length === 0) throw matchesNothing(graph, selector);
  return found;
}

function makeMatcher(graph: Graph, fields: NodeFields): (node: Node) => boolean {
  const [name, op, output, input] = [fields.name, fields.op, fields.output, fields.input].map(matcher);
  const [producer, consumer] = [fields.producer, fields.consumer].map(matcher);
  const readers = fields.consumer === undefined ? undefined : indexUses(graph);
  return node =>
    (name?.(node.name) ?? true) &&
    (op?.(node.opType) ?? true) &&
    (fields.output === undefined || namesOf(graph, node.outputs).some(text => output?.(text))) &&
    (fields.input === undefined || namesOf(graph, node.inputs).some(text => input?.(text))) &&
    (fields.producer === undefined || producersOf(graph, node).some(other => producer?.(other.opType))) &&
    (readers === undefined || readersOf(readers, node).some(other => consumer?.(other.opType))) &&
    Object.entries(fields.attributes ?? {}).every(([key, wanted]) => hasAttribute(node, key, wanted));
}

function producersOf(graph: Graph, node: Node): Node[] {
  return node.inputs.flatMap(id => {
    const producer = id === undefined ? undefined : graph.values.get(id)?.producer;
    const found = producer === undefined ? undefined : graph.nodes.get(producer);
    return found === undefined ? [] : [found];
  });
}

function readersOf(uses: ReturnType<typeof indexUses>, node: Node): Node[] {
  return node.outputs.flatMap(id => (id === undefined ? [] : (uses.get(id) ?? []).map(use => use.node)));
}

const decoder = new TextDecoder();

function hasAttribute(node: Node, name: string, wanted: number | string | readonly number[]): boolean {
  const attribute = node.attributes.get(name);
  switch (attribute?.kind) {
    case 'int':
      return Number(attribute.value) === wanted;
    case 'float':
      return typeof wanted === 'number' && attribute.value === Math.fround(wanted);
    case 'string':
      return decoder.decode(attribute.value) === wanted;
    case 'ints':
    case 'floats':
      return (
        Array.isArray(wanted) &&
        wanted.length === attribute.value.length &&
        wanted.every((x, at) => Math.fround(x) === Number(attribute.value[at]))
      );
    default:
      return false;
  }
}

function matcher(pattern: string | undefined): (text: string) => boolean {
  return pattern === undefined ? () => true : makeNameMatcher(pattern);
}

function namesOf(graph: Graph, ids: Node['inputs']): string[] {
  return ids.flatMap(id => (id === undefined ? [] : [graph.values.get(id)?.name ?? '']));
}

function matchesNothing(graph: Graph, selector: NodeSelector): OnnxError {
  const { name, op, output, input }: NodeFields = typeof selector === 'string' ? { name: selector } : selector;
  const nodes = [...graph.nodes.values()];
  const valuesOf = (of: (node: Node) => Node['inputs']): string[] => nodes.flatMap(node => namesOf(graph, of(node)));
  const near = [
    ...nearTo(name, () => nodes.map(node => node.name).filter(Boolean)),
    ...nearTo(op, () => nodes.map(node => node.opType)),
    ...nearTo(output, () => valuesOf(node => node.outputs)),
    ...nearTo(input, () => valuesOf(node => node.inputs)),
  ];
  const options = near.length === 0 ? {} : { help: describeNear(near) };
  return new OnnxError('selector-matches-nothing', `no node of graph "${graph.name}" matches ${JSON.stringify(selector)}`, options);
}

function nearTo(wanted: string | undefined, candidates: () => readonly string[]): readonly string[] {
  return wanted === undefined ? [] : findNear(wanted, candidates());
}
