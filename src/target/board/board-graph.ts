/** The nodes of an assignment report as a graph: names in messages are resolved, and neighbors found across Q and DQ. */
import type { Assignment, PlacedNode } from './evidence.js';

export interface BoardGraph {
  readonly nodes: readonly PlacedNode[];
  /** The node that a name in a message means; undefined if there is none. */
  find(subject: string, type?: string): PlacedNode | undefined;
  /** Nodes that compute what this node reads, beyond Q and DQ. Constants have no node. */
  producers(node: PlacedNode): readonly PlacedNode[];
  /** Nodes that compute on its results, beyond Q and DQ. */
  consumers(node: PlacedNode): readonly PlacedNode[];
  /** Whether it reads integers through DQ and its result becomes integers, directly or after one operator. */
  isQuantized(node: PlacedNode): boolean;
  /** The operator's name in limits ("DepthwiseConv"); undefined for a Conv whose shapes the report lacks. */
  limitName(node: PlacedNode): string | undefined;
}

export function isQdq({ opType }: PlacedNode): boolean {
  return opType === 'QuantizeLinear' || opType === 'DequantizeLinear';
}

export function openBoardGraph({ nodes, shapes }: Assignment): BoardGraph {
  const producerOf = new Map(nodes.flatMap(node => node.outputs.map(name => [name, node] as const)));
  const readersOf = new Map<string, PlacedNode[]>();
  for (const node of nodes) for (const name of new Set(node.inputs)) addTo(readersOf, name, node);
  const before = ({ inputs }: PlacedNode): readonly PlacedNode[] => inputs.flatMap(name => producerOf.get(name) ?? []);
  const after = ({ outputs }: PlacedNode): readonly PlacedNode[] => outputs.flatMap(name => readersOf.get(name) ?? []);
  const find = makeFinder(producerOf, before);
  return {
    nodes,
    find,
    producers: node => beyondQdq(node, before),
    consumers: node => beyondQdq(node, after),
    isQuantized: node => isQuantized(node, before, after),
    limitName: node => (node.opType === 'Conv' ? nameConv(node, shapes) : node.opType),
  };
}

/** Adds to the list of `key`, in time that does not depend on its length. */
export function addTo<K, T>(lists: Map<K, T[]>, key: K, one: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [one]);
  else list.push(one);
}

type Step = (node: PlacedNode) => readonly PlacedNode[];

function beyondQdq(node: PlacedNode, step: Step): readonly PlacedNode[] {
  const found = new Set<PlacedNode>();
  const seen = new Set<PlacedNode>([node]);
  const open = [...step(node)];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    if (!isQdq(next)) found.add(next);
    else open.push(...step(next));
  }
  return [...found];
}

function isQuantized(node: PlacedNode, before: Step, after: Step): boolean {
  if (before(node)[0]?.opType !== 'DequantizeLinear') return false;
  const isClosed = (one: PlacedNode): boolean => after(one).length > 0 && after(one).every(({ opType }) => opType === 'QuantizeLinear');
  if (isClosed(node)) return true;
  const [activation, ...others] = after(node);
  return activation !== undefined && others.length === 0 && before(activation).length === 1 && isClosed(activation);
}

/** Suffixes that the vendor's passes add to names of values. */
const SUFFIX = /(?:_vaip_\d+|_replaced_input\d+|_fix|_upload|_download)+$/;

/**
 * Messages name the value that an operator gives after fusion: its Q, or a DQ that reads this Q. The operator is meant, unless the message is about a Q or DQ.
 * VAIML names nodes by their name, which a report of the vendor does not have: it is then the start of an output's name ("/conv/Conv" of "/conv/Conv_output_0").
 */
function makeFinder(producerOf: ReadonlyMap<string, PlacedNode>, before: Step): BoardGraph['find'] {
  const byNodeName = new Map([...producerOf].map(([name, node]) => [name.replace(/_output_\d+$/, ''), node] as const));
  const byComment = new Map([...new Set(producerOf.values())].map(node => [node.comment, node] as const));
  return (subject, type) => {
    const plain = subject.replace(SUFFIX, '');
    const found =
      producerOf.get(subject) ?? producerOf.get(plain) ?? byComment.get(subject) ?? byNodeName.get(subject) ?? byNodeName.get(plain);
    if (found === undefined || (type !== undefined && /^(?:de)?quantize-linear$/.test(type))) return found;
    let node = found;
    for (let steps = 0; isQdq(node) && type !== undefined && steps < 4; steps++) {
      const [source] = before(node);
      if (source === undefined) return found;
      node = source;
    }
    return node;
  };
}

/** As `limitNameOf` for a model: several groups of one input channel. */
function nameConv({ inputs }: PlacedNode, shapes: Assignment['shapes']): string | undefined {
  const channels = shapes.get(inputs[0] ?? '')?.[1];
  const perGroup = shapes.get(inputs[1] ?? '')?.[1];
  if (perGroup === undefined || (perGroup === 1 && channels === undefined)) return undefined;
  return perGroup === 1 && channels !== 1 ? 'DepthwiseConv' : 'Conv';
}
