/** How do two models differ in structure? What only one has, and what both have in another form. Names tell what belongs together; where they differ, what is computed. */
import { digestBytes } from '../base/digest.js';
import { byteLength } from '../tensor/dtype.js';
import { countElements } from '../tensor/shape.js';
import { describeAttribute } from './describe-attribute.js';
import { describeType } from './describe-type.js';
import { digestValues } from './digest.js';
import type { Attribute, Constant, Graph, Model, Node, Value, ValueId } from './ir/model.js';
import { printGraph } from './print.js';
import { byteLengthOf } from './serde/file-constant.js';
import { describeNode } from './shape-inference/node-context.js';
import { formatElements } from './text/elements.js';

export type Difference =
  | {
      readonly kind: 'added' | 'removed';
      readonly what: 'input' | 'output' | 'node' | 'constant';
      readonly name: string;
      readonly is: string;
    }
  | {
      readonly kind: 'changed';
      readonly what: 'model' | 'input' | 'output' | 'node' | 'constant' | 'value';
      /** Of the first model. */
      readonly name: string;
      readonly field: string;
      readonly before: string;
      readonly after: string;
    };

/**
 * What differs between the main graphs of `before` and `after`, and their headings; empty where nothing does. Sub-graphs are compared as text. The order of
 * nodes, doc strings and metadata do not count, nor whether initializers are listed as inputs too. Nodes have to be in an order without cycles. @throws OnnxError `graph-cycle`.
 */
export function diffModels(before: Model, after: Model): readonly Difference[] {
  const [left, right] = [before.graph, after.graph];
  const partners = pairValues(before, after);
  return [
    ...diffHeadings(before, after),
    ...diffEnds('input', left, right),
    ...diffEnds('output', left, right),
    ...diffConstants(left, right, partners),
    ...diffNodes(left, right, partners),
  ];
}

/** From values of the first graph to those of the second that stand for the same. */
type Partners = ReadonlyMap<ValueId, Value>;

function pairValues(before: Model, after: Model): Partners {
  const byName = new Map([...after.graph.values.values()].map(value => [value.name, value]));
  const pairs = new Map<ValueId, Value>();
  const taken = new Set<ValueId>();
  for (const value of before.graph.values.values()) {
    const other = byName.get(value.name);
    if (other === undefined) continue;
    pairs.set(value.id, other);
    taken.add(other.id);
  }
  const free = [...after.graph.values.values()].filter(({ id }) => !taken.has(id));
  if (free.length === 0 || pairs.size === before.graph.values.size) return pairs;
  const [own, others] = [digestValues(before), digestValues(after)];
  const byDigest = new Map(free.toReversed().map(value => [others.get(value.id), value]));
  for (const value of before.graph.values.values()) {
    const digest = own.get(value.id);
    const other = pairs.has(value.id) || digest === undefined ? undefined : byDigest.get(digest);
    if (other === undefined || taken.has(other.id)) continue;
    pairs.set(value.id, other);
    taken.add(other.id);
  }
  return pairs;
}

function diffHeadings(before: Model, after: Model): Difference[] {
  const fields = (model: Model): [string, string][] => [
    ['IR version', String(model.irVersion)],
    ...[...model.opsets].map(([domain, version]): [string, string] => [`operator set "${domain}"`, String(version)]),
    ['fields that are not interpreted', `${model.unknown.reduce((sum, bytes) => sum + bytes.byteLength, 0)} bytes`],
  ];
  const [own, others] = [new Map(fields(before)), new Map(fields(after))];
  return [...new Set([...own.keys(), ...others.keys()])].flatMap(field => changed('model', '', field, own.get(field), others.get(field)));
}

function changed(
  what: Extract<Difference, { kind: 'changed' }>['what'],
  name: string,
  field: string,
  before: string | undefined,
  after: string | undefined,
): Difference[] {
  return before === after ? [] : [{ kind: 'changed', what, name, field, before: before ?? 'absent', after: after ?? 'absent' }];
}

function diffEnds(what: 'input' | 'output', before: Graph, after: Graph): Difference[] {
  const list = (graph: Graph): Value[] =>
    (what === 'input' ? graph.inputs : graph.outputs).flatMap(id => {
      const value = graph.values.get(id);
      return value === undefined || (what === 'input' && value.constant !== undefined) ? [] : [value];
    });
  const [own, others] = [list(before), list(after)];
  const otherOf = (name: string): Value | undefined => others.find(other => other.name === name);
  const both = own.filter(({ name }) => otherOf(name) !== undefined).map(({ name }) => name);
  const order = others.filter(({ name }) => both.includes(name)).map(({ name }) => name);
  return [
    ...own.flatMap(({ name, type }): Difference[] => {
      const other = otherOf(name);
      if (other === undefined) return [{ kind: 'removed', what, name, is: describeType(type) }];
      return changed(what, name, 'type', describeType(type), describeType(other.type));
    }),
    ...others.flatMap(({ name, type }): Difference[] =>
      own.some(value => value.name === name) ? [] : [{ kind: 'added', what, name, is: describeType(type) }],
    ),
    ...changed(what, '', 'order', both.join(', '), order.join(', ')),
  ];
}

function diffConstants(before: Graph, after: Graph, partners: Partners): Difference[] {
  const found: Difference[] = [];
  const paired = new Set<ValueId>();
  for (const value of before.values.values()) {
    if (value.constant === undefined) continue;
    const other = partners.get(value.id);
    if (other?.constant === undefined) {
      found.push({ kind: 'removed', what: 'constant', name: value.name, is: describeConstant(value.constant) });
      continue;
    }
    paired.add(other.id);
    found.push(...diffConstant(value, value.constant, other.name, other.constant));
  }
  for (const { id, name, constant } of after.values.values()) {
    if (constant !== undefined && !paired.has(id)) found.push({ kind: 'added', what: 'constant', name, is: describeConstant(constant) });
  }
  return found;
}

const describeConstant = ({ dtype, dims }: Constant): string => describeType({ kind: 'tensor', dtype, dims });

function diffConstant({ name }: Value, before: Constant, otherName: string, after: Constant): Difference[] {
  const types = changed('constant', name, 'type', describeConstant(before), describeConstant(after));
  if (types.length > 0) return types;
  return [
    ...changed('constant', name, 'name', name, otherName),
    ...(hasSameContent(before, after) ? [] : changed('constant', name, 'content', describeContent(before), describeContent(after, before))),
  ];
}

function hasSameContent(a: Constant, b: Constant): boolean {
  if ('data' in a || 'data' in b) return 'data' in a && 'data' in b && a.data.every((text, index) => text === b.data[index]);
  return byteLengthOf(a) === byteLengthOf(b) && Buffer.compare(a.bytes, b.bytes) === 0;
}

/** How many elements another constant of the same type has otherwise. */
function describeContent(constant: Constant, other?: Constant): string {
  const count = countElements(constant.dims);
  if (other === undefined || !('bytes' in constant) || !('bytes' in other)) return `${count} elements`;
  const [a, b] = [constant.bytes, other.bytes];
  const size = byteLength(constant.dtype, count) / Math.max(1, count);
  if (!Number.isInteger(size)) return `${count} elements, others`;
  let differing = 0;
  for (let at = 0; at < a.byteLength; at += size) {
    for (let inner = 0; inner < size; inner++) {
      if (a[at + inner] === b[at + inner]) continue;
      differing++;
      break;
    }
  }
  return `${differing} of ${count} elements are others`;
}

function diffNodes(before: Graph, after: Graph, partners: Partners): Difference[] {
  const taken = new Set<Node>();
  const byName = new Map([...after.nodes.values()].filter(({ name }) => name !== '').map(node => [`${node.opType} ${node.name}`, node]));
  const found: Difference[] = [];
  for (const node of before.nodes.values()) {
    const other = findPartner(node, after, partners) ?? byName.get(`${node.opType} ${node.name}`);
    if (other === undefined || taken.has(other)) {
      found.push({ kind: 'removed', what: 'node', name: describeNode(node, before), is: outlineNode(node, before) });
      continue;
    }
    taken.add(other);
    found.push(...diffNode({ node, graph: before }, { node: other, graph: after }, partners));
  }
  for (const node of after.nodes.values()) {
    if (!taken.has(node)) found.push({ kind: 'added', what: 'node', name: describeNode(node, after), is: outlineNode(node, after) });
  }
  return found;
}

/** The node that makes what `node` makes. */
function findPartner(node: Node, after: Graph, partners: Partners): Node | undefined {
  for (const output of node.outputs) {
    const producer = output === undefined ? undefined : partners.get(output)?.producer;
    const other = producer === undefined ? undefined : after.nodes.get(producer);
    if (other !== undefined) return other;
  }
  return undefined;
}

interface Place {
  readonly node: Node;
  readonly graph: Graph;
}

function diffNode(own: Place, other: Place, partners: Partners): Difference[] {
  const label = describeNode(own.node, own.graph);
  const change = (field: string, before: string | undefined, after: string | undefined): Difference[] =>
    changed('node', label, field, before, after);
  const names = [...new Set([...own.node.attributes.keys(), ...other.node.attributes.keys()])];
  const place = (side: Place, name: string): string | undefined => describeInFull(side, side.node.attributes.get(name));
  return [
    ...change('operator', nameOperator(own.node), nameOperator(other.node)),
    ...change('name', own.node.name, other.node.name),
    ...names.flatMap(name => change(name, place(own, name), place(other, name))),
    ...(['inputs', 'outputs'] as const).flatMap(side => diffPlaces(side, own, other, partners, change)),
  ];
}

const nameOperator = ({ domain, opType, overload }: Node): string => [domain, opType, overload].filter(Boolean).join('.');

function diffPlaces(
  side: 'inputs' | 'outputs',
  own: Place,
  other: Place,
  partners: Partners,
  change: (field: string, before: string | undefined, after: string | undefined) => Difference[],
): Difference[] {
  const [mine, theirs] = [own.node[side], other.node[side]];
  return Array.from({ length: Math.max(mine.length, theirs.length) }, (_, index) => {
    const [id, otherId] = [mine[index], theirs[index]];
    if (id !== undefined && partners.get(id)?.id === otherId && side === 'inputs') return [];
    return change(`${side === 'inputs' ? 'input' : 'output'} ${index}`, nameAt(own.graph, id), nameAt(other.graph, otherId));
  }).flat();
}

const nameAt = (graph: Graph, id: ValueId | undefined): string | undefined =>
  id === undefined ? undefined : (graph.values.get(id)?.name ?? '');

function outlineNode(node: Node, graph: Graph): string {
  const list = (ids: Node['inputs']): string => ids.map(id => nameAt(graph, id) ?? '').join(', ');
  return `${list(node.outputs)} = ${nameOperator(node)}(${list(node.inputs)})`;
}

/** Elements of a constant that are shown. */
const SHOWN = 8;

/** Type and first elements; of more, the digest tells others apart. */
function describeTensor(constant: Constant): string {
  const shown = formatElements(constant, SHOWN);
  const count = countElements(constant.dims);
  const rest = count <= SHOWN || 'data' in constant ? '' : `, … ${digestBytes(constant.bytes).slice(0, 12)}`;
  return `${describeConstant(constant)} {${shown.join(', ')}${rest}}`;
}

function describeInFull(place: Place, attribute: Attribute | undefined): string | undefined {
  switch (attribute?.kind) {
    case undefined:
      return undefined;
    case 'tensor':
      return describeTensor(attribute.value);
    case 'tensors':
      return attribute.value.map(({ value }) => describeTensor(value)).join('; ');
    case 'graph':
      return printInside(place, attribute.value);
    case 'graphs':
      return attribute.value.map(graph => printInside(place, graph)).join('');
    case 'ref':
      return `@${attribute.refName}`;
    case 'other':
      return Buffer.from(attribute.bytes).toString('hex');
    default:
      return describeAttribute(attribute);
  }
}

function printInside({ graph }: Place, inner: Graph): string {
  return printGraph(inner, { maxElements: Number.MAX_SAFE_INTEGER, outerName: id => graph.values.get(id)?.name });
}
