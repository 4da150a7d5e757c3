/** Insertion of a node between a value and its readers. Names of model outputs are kept. */
import { addInitializer, addNode, type NewNode, replaceAllUses } from '../ir/edit.js';
import type { Attribute, Constant, Model, Node, ValueId } from '../ir/model.js';
import { makeNameScope } from '../ir/name-scope.js';
import { OnnxError } from '../ir/onnx-error.js';
import { selectMatching } from '../rewrite/matches.js';
import type { Matches, NodeSelector } from '../selection/node-selector.js';
import { getNamedValue } from './find-value.js';

export interface Insertion {
  /** The value that the node reads, at input `at` (0). */
  readonly on: string;
  readonly op: string;
  readonly domain?: string;
  /** Default: made from the names of the value and the operator. */
  readonly name?: string;
  readonly attributes?: Readonly<Record<string, Attribute>>;
  /** The other inputs in order: values by name, constants, or undefined for an absent input. */
  readonly others?: readonly (string | Constant | undefined)[];
  readonly at?: number;
  /** The readers that will read the output of the node. Default: all readers, and the model output. */
  readonly readers?: NodeSelector;
  readonly matches?: Matches;
}

/**
 * Inserts a node. If the value is an output of the model, the output of the node takes over its name, and the value is renamed.
 * The caller infers shapes again. @throws OnnxError `unknown-value`, `selector-matches-nothing`, `selector-matches-several`, `no-such-reader`.
 */
export function insertNode(model: Model, insertion: Insertion): Node {
  const { graph } = model;
  const { on, op, at = 0, others = [] } = insertion;
  const value = getNamedValue(graph, on);
  const scope = makeNameScope(graph);
  const inputs = [...others.map(other => inputOf(model, other, scope.take)).slice(0, at), value.id];
  inputs.push(...others.slice(at).map(other => inputOf(model, other, scope.take)));
  const takesName = insertion.readers === undefined && graph.outputs.includes(value.id);
  const readers = insertion.readers === undefined ? undefined : selectMatching(graph, insertion.readers, insertion.matches ?? 'one');
  const missing = readers?.find(({ inputs: read }) => !read.includes(value.id));
  if (missing !== undefined) throw new OnnxError('no-such-reader', `${missing.opType} "${missing.name}" does not read "${on}"`);
  const outputName = takesName ? on : scope.take(`${on}_${op}`);
  if (takesName) value.name = scope.take(`${on}_before_${op}`);
  const spec: NewNode = {
    opType: op,
    name: insertion.name ?? freshNodeName(graph.nodes.values(), `${on}_${op}`),
    domain: insertion.domain ?? '',
    inputs,
    attributes: insertion.attributes ?? {},
    outputs: [],
  };
  const added = makeAfter(model, spec, value.id, outputName, readers);
  if (insertion.domain !== undefined && !model.opsets.has(insertion.domain)) model.opsets.set(insertion.domain, 1);
  return added;
}

/** Moves the readers to a new value first, so that the node itself keeps reading the old one. */
function makeAfter(model: Model, spec: NewNode, from: ValueId, name: string, readers: readonly Node[] | undefined): Node {
  const { graph } = model;
  const first = readers?.[0] ?? [...graph.nodes.values()].find(node => node.inputs.includes(from));
  const node = addNode(model, graph, { ...spec, inputs: [], outputs: [name], ...(first === undefined ? {} : { before: first.id }) });
  const [output] = node.outputs;
  if (output !== undefined && readers === undefined) replaceAllUses(graph, from, output);
  for (const reader of readers ?? []) reader.inputs = reader.inputs.map(id => (id === from ? output : id));
  node.inputs = [...spec.inputs];
  return node;
}

function inputOf(model: Model, other: string | Constant | undefined, takeName: (wanted: string) => string): ValueId | undefined {
  if (other === undefined) return undefined;
  if (typeof other === 'string') return getNamedValue(model.graph, other).id;
  return addInitializer(model, model.graph, takeName('constant'), other).id;
}

/** `wanted`, or `wanted` with the first number that makes it unique among the nodes. */
export function freshNodeName(nodes: Iterable<Node>, wanted: string): string {
  const taken = new Set([...nodes].map(({ name }) => name));
  if (!taken.has(wanted)) return wanted;
  for (let n = 1; ; n++) if (!taken.has(`${wanted}_${n}`)) return `${wanted}_${n}`;
}
