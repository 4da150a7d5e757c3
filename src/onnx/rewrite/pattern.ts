/** Patterns of rewrite rules: small trees of operators and values, matched backwards from a root node. */
import { getDefined } from '../../base/invariant.js';
import type { Constant, Node, ValueId } from '../ir/model.js';
import { describeNode } from '../shape-inference/context/node-context.js';
import type { GraphView } from './graph-view.js';
import type { Match } from './match.js';

export type Pattern = OpPattern;

export type ValuePattern =
  | { readonly kind: 'any'; readonly name: string }
  | { readonly kind: 'constant'; readonly name: string }
  | { readonly kind: 'optional'; readonly pattern: ValuePattern }
  | OpPattern;

export interface OpPattern {
  readonly kind: 'op';
  readonly opTypes: readonly string[];
  readonly name: string;
  readonly inputs: readonly ValuePattern[] | 'any';
  /** 'commutative': the first two inputs match in either order. */
  readonly order: 'given' | 'commutative';
}

/** Any value, with a name for the rule. */
export const any = (name: string): ValuePattern => ({ kind: 'any', name });
/** A value that is constant in the model. */
export const constant = (name: string): ValuePattern => ({ kind: 'constant', name });
/** An input that may be absent. */
export const optional = (pattern: ValuePattern): ValuePattern => ({ kind: 'optional', pattern });

/** A node of one of `opTypes` (ONNX domain). Inside a pattern, its output must have exactly one reader. */
export function op(
  opTypes: string | readonly string[],
  options: { name?: string; inputs?: readonly ValuePattern[]; order?: OpPattern['order'] } = {},
): OpPattern {
  return {
    kind: 'op',
    opTypes: typeof opTypes === 'string' ? [opTypes] : opTypes,
    name: options.name ?? 'root',
    inputs: options.inputs ?? 'any',
    order: options.order ?? 'given',
  };
}

/** The reason why a pattern did not match at a node of its root operator; `depth` counts the parts that matched. */
export interface Miss {
  readonly kind: 'miss';
  readonly node: Node;
  readonly reason: string;
  readonly depth: number;
}

interface Bindings {
  readonly values: ReadonlyMap<string, ValueId | undefined>;
  readonly nodes: ReadonlyMap<string, Node>;
  readonly depth: number;
}

const EMPTY: Bindings = { values: new Map(), nodes: new Map(), depth: 0 };

/** Matches `pattern` with its root at `node`; undefined if the node has another operator or no first output. */
export function matchPattern(view: GraphView, pattern: Pattern, node: Node): (Match & { readonly kind: 'match' }) | Miss | undefined {
  if (node.domain !== '' || !pattern.opTypes.includes(node.opType) || node.outputs[0] === undefined) return undefined;
  const result = matchNode(view, pattern, node, EMPTY);
  return 'kind' in result ? { ...result, node } : makeMatch(view, node, result);
}

/** All nodes of a match, the root first. */
export function nodesOfMatch(match: Match, pattern: Pattern): readonly Node[] {
  const names: string[] = [];
  const visit = (part: ValuePattern): void => {
    if (part.kind === 'optional') visit(part.pattern);
    if (part.kind !== 'op') return;
    names.push(part.name);
    if (part.inputs !== 'any') for (const input of part.inputs) visit(input);
  };
  visit(pattern);
  return names.map(name => match.inner(name));
}

function matchNode(view: GraphView, pattern: OpPattern, node: Node, so: Bindings): Bindings | Miss {
  const here: Bindings = { ...so, nodes: new Map([...so.nodes, [pattern.name, node]]), depth: so.depth + 1 };
  if (pattern.inputs === 'any') return here;
  const given = matchInputs(view, pattern.inputs, node, node.inputs, here);
  if (pattern.order === 'given' || !('kind' in given)) return given;
  const [first, second, ...rest] = node.inputs;
  const swapped = matchInputs(view, pattern.inputs, node, [second, first, ...rest], here);
  return 'kind' in swapped && swapped.depth <= given.depth ? given : swapped;
}

function matchInputs(
  view: GraphView,
  patterns: readonly ValuePattern[],
  node: Node,
  inputs: readonly (ValueId | undefined)[],
  so: Bindings,
): Bindings | Miss {
  let bindings = so;
  for (const [index, pattern] of patterns.entries()) {
    const next = matchValue(view, pattern, node, inputs[index], bindings);
    if ('kind' in next) return next;
    bindings = next;
  }
  return bindings;
}

function matchValue(view: GraphView, pattern: ValuePattern, node: Node, value: ValueId | undefined, so: Bindings): Bindings | Miss {
  const miss = (reason: string): Miss => ({ kind: 'miss', node, reason, depth: so.depth });
  const bind = (name: string): Bindings => ({ ...so, values: new Map([...so.values, [name, value]]), depth: so.depth + 1 });
  if (pattern.kind === 'optional') {
    if (value !== undefined) return matchValue(view, pattern.pattern, node, value, so);
    return pattern.pattern.kind === 'any' || pattern.pattern.kind === 'constant' ? bind(pattern.pattern.name) : so;
  }
  if (value === undefined) return miss(`${describeNode(node, view.graph)} has fewer inputs`);
  if (pattern.kind === 'any') return bind(pattern.name);
  if (pattern.kind === 'constant') {
    return view.constantOf(value) === undefined ? miss(`"${view.nameOf(value)}" (${pattern.name}) is not constant`) : bind(pattern.name);
  }
  const producer = view.producerOf(value);
  if (producer === undefined || producer.domain !== '' || !pattern.opTypes.includes(producer.opType))
    return miss(`"${view.nameOf(value)}" comes from ${producer?.opType ?? 'no node'}, not from ${pattern.opTypes.join(' or ')}`);
  if (producer.outputs[0] !== value)
    return miss(`"${view.nameOf(value)}" is not the first output of ${describeNode(producer, view.graph)}`);
  if (view.useCount(value) !== 1) return miss(`"${view.nameOf(value)}" has ${view.useCount(value)} readers`);
  return matchNode(view, pattern, producer, so);
}

function makeMatch(view: GraphView, node: Node, bindings: Bindings): Match & { readonly kind: 'match' } {
  const find = (name: string): ValueId | undefined => bindings.values.get(name);
  const value = (name: string): ValueId => getDefined(find(name), `pattern value "${name}"`);
  const findConstant = (name: string): Constant | undefined => view.constantOf(find(name));
  return {
    kind: 'match',
    node,
    opset: view.model.opsets.get('') ?? 1,
    inner: name => getDefined(bindings.nodes.get(name), `pattern node "${name}"`),
    value,
    find,
    constant: name => getDefined(findConstant(name), `pattern constant "${name}"`),
    findConstant,
    type: id => view.typeOf(id),
    rangeOf: id => view.rangeOf(id),
    constantOf: id => view.constantOf(id),
    producerOf(id, opType) {
      const producer = id === undefined ? undefined : view.producerOf(id);
      return producer?.domain === '' && (opType === undefined || producer.opType === opType) ? producer : undefined;
    },
    useCount: id => view.useCount(id),
    soleReader: id => view.soleReader(id),
    isInputDim: name =>
      view.graph.inputs.some(id => {
        const type = view.graph.values.get(id)?.type;
        return type?.kind === 'tensor' && type.dims?.includes(name) === true;
      }),
    isInput: id => view.graph.inputs.includes(id) && view.graph.values.get(id)?.constant === undefined,
    isOutput: id => view.graph.outputs.includes(id),
    output: (index = 0) => getDefined(node.outputs[index], `output ${index} of ${describeNode(node, view.graph)}`),
    nameOf: id => view.nameOf(id),
  };
}
