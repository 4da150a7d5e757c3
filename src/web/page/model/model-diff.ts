/** What differs between two models, node by node: for a step of the pipeline, its input and its output. */
import type { ModelView, NodeView, ValueView } from '../../../onnx/describe/model-view.js';

export type ChangeKind = 'added' | 'removed' | 'changed';

export interface NodeChange {
  readonly kind: ChangeKind;
  readonly op: string;
  /** The node before, or after where it was added. */
  readonly id: string;
  /** The partner in the other model. */
  readonly partner: string | undefined;
  readonly what: string;
}

export interface ModelDiff {
  readonly before: ReadonlyMap<string, ChangeKind>;
  readonly after: ReadonlyMap<string, ChangeKind>;
  /** Of the model before, the partners in the model after. */
  readonly partners: ReadonlyMap<string, string>;
  readonly changes: readonly NodeChange[];
}

/**
 * Partners have the same first output or the same name, and the same operator. Q and DQ nodes between a value and its reader are looked
 * through: a node whose input is quantized now reads the same value as before.
 */
export function compareModels(before: ModelView, after: ModelView): ModelDiff {
  const [old, now] = [lookThrough(before), lookThrough(after)];
  const partners = findPartners(before, after);
  const taken = new Set(partners.values());
  const changes: NodeChange[] = [];
  const byId = new Map(after.nodes.map(node => [node.id, node]));
  for (const node of before.nodes) {
    const other = byId.get(partners.get(node.id) ?? '');
    if (other === undefined) changes.push({ kind: 'removed', op: node.op, id: node.id, partner: undefined, what: 'removed' });
    else {
      const what = describeChange(old(node), now(other), node, other, before, after);
      if (what.length > 0) changes.push({ kind: 'changed', op: node.op, id: node.id, partner: other.id, what: what.join('; ') });
    }
  }
  for (const node of after.nodes)
    if (!taken.has(node.id)) changes.push({ kind: 'added', op: node.op, id: node.id, partner: undefined, what: 'added' });
  const sideOf = (wanted: ChangeKind, idOf: (change: NodeChange) => string): ReadonlyMap<string, ChangeKind> =>
    new Map(changes.filter(({ kind }) => kind === wanted || kind === 'changed').map(change => [idOf(change), change.kind]));
  return {
    before: sideOf('removed', ({ id }) => id),
    after: sideOf('added', ({ id, partner }) => partner ?? id),
    partners,
    changes,
  };
}

function findPartners(before: ModelView, after: ModelView): ReadonlyMap<string, string> {
  const byOutput = new Map(after.nodes.flatMap(node => (node.outputs[0] == null ? [] : [[node.outputs[0], node] as const])));
  const byId = new Map(after.nodes.map(node => [node.id, node]));
  const partners = new Map<string, string>();
  const taken = new Set<string>();
  for (const node of before.nodes) {
    const found = [byOutput.get(node.outputs[0] ?? ''), byId.get(node.id)].find(one => one?.op === node.op && !taken.has(one.id));
    if (found === undefined) continue;
    partners.set(node.id, found.id);
    taken.add(found.id);
  }
  return partners;
}

const PASSED = /^(De)?[Qq]uantizeLinear$/;

type ReadsOf = (node: NodeView) => readonly string[];

/** The names of what a node reads, without Q and DQ in between. */
function lookThrough({ nodes }: ModelView): ReadsOf {
  const producers = new Map(nodes.flatMap(node => node.outputs.flatMap(name => (name === null ? [] : [[name, node] as const]))));
  const origin = (name: string, depth = 0): string => {
    const producer = producers.get(name);
    const source = producer?.inputs[0];
    return producer !== undefined && PASSED.test(producer.op) && source != null && depth < 8 ? origin(source, depth + 1) : name;
  };
  return ({ inputs }) => inputs.map(name => (name === null ? '' : origin(name)));
}

function describeChange(
  readBefore: readonly string[],
  readAfter: readonly string[],
  before: NodeView,
  after: NodeView,
  modelBefore: ModelView,
  modelAfter: ModelView,
): readonly string[] {
  const found: string[] = [];
  const names = [...new Set([...Object.keys(before.attributes), ...Object.keys(after.attributes)])].sort();
  for (const name of names) {
    const [old = 'absent', now = 'absent'] = [before.attributes[name], after.attributes[name]];
    if (old !== now) found.push(`${name}: ${old} → ${now}`);
  }
  for (let i = 0; i < Math.max(readBefore.length, readAfter.length); i++) {
    const [old = '', now = ''] = [readBefore[i], readAfter[i]];
    const [was, is] = [modelBefore.values[old], modelAfter.values[now]];
    if (was?.constant !== undefined && is?.constant !== undefined) found.push(...describeConstants(was, is, i));
    else if (old !== now) found.push(`input ${i + 1}: ${old || 'none'} → ${now || 'none'}`);
  }
  const [was, is] = [typeOf(before, modelBefore), typeOf(after, modelAfter)];
  if (was !== is) found.push(`output: ${was} → ${is}`);
  return found;
}

function typeOf({ outputs }: NodeView, { values }: ModelView): string {
  const value = values[outputs[0] ?? ''];
  return [value?.dtype, value?.shape].filter(text => text !== undefined).join(' ');
}

/** Weights of the same type with other statistics have other values. */
function describeConstants(before: ValueView, after: ValueView, index: number): readonly string[] {
  const [old, now] = [before.constant, after.constant];
  const [was, is] = [`${before.dtype} ${before.shape}`, `${after.dtype} ${after.shape}`];
  if (was !== is) return [`input ${index + 1}: ${was} → ${is}`];
  const differs = old?.min !== now?.min || old?.max !== now?.max || old?.mean !== now?.mean || old?.std !== now?.std;
  return differs ? [`values of input ${index + 1}`] : [];
}
