/** Applies a patch to the graph: new nodes take over the replaced values, nodes that are no longer read are removed, and dtypes, shapes and names are checked. */
import { getDefined } from '../../base/invariant.js';
import { addInitializer, addNode, freshName, getNode, getValue, removeValue, replaceAllUses } from '../ir/edit.js';
import type { Constant, Dim, Graph, Node, Value, ValueId } from '../ir/model.js';
import { OnnxError } from '../ir/onnx-error.js';
import { graphsOf } from '../ir/scope.js';
import { describeNode, formatDims, type Known } from '../shape-inference/context/node-context.js';
import { knownOfConstant } from '../shape-inference/infer-shapes.js';
import type { GraphView } from './graph-view.js';
import { findPatchContradiction } from './infer-patch.js';
import type { HostStep, Patch, PatchNode, Ref } from './patch.js';
import { labelOf, removeUnread } from './remove-unread.js';
import { type Decline, decline, type RewriteRule } from './rule.js';

export interface AppliedPatch {
  readonly kind: 'applied';
  /** Labels of the nodes that the patch added, and of those that were removed. */
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Names of the values that have a new producer. */
  readonly values: readonly string[];
  /** For a cut: the operations that the host runs instead. */
  readonly host?: HostWork;
}

/** Operations that were cut at an input or output of the model and that the host has to run. */
export interface HostWork {
  readonly side: 'input' | 'output';
  /** The name of the input or output. */
  readonly end: string;
  readonly steps: readonly HostStep[];
}

/**
 * Applies `patch`, which `rule` made for the match rooted at `root`; `matched` are the nodes of the match.
 * @returns a decline, with the graph unchanged, if an output of the graph would become an alias of an input, a constant or another output,
 *   or if shape inference finds that the new nodes contradict known types.
 * @throws OnnxError `patch-changes-type` if a replaced value would get another dtype or shape.
 */
export function applyPatch(view: GraphView, rule: RewriteRule, root: Node, matched: readonly Node[], patch: Patch): AppliedPatch | Decline {
  const { graph } = view;
  const blocked = patch.replace.find(([old, ref]) => graph.outputs.includes(old) && !canBeOutput(graph, ref));
  if (blocked !== undefined)
    return decline(
      `"${view.nameOf(blocked[0])}" is an output of the ${view.scope.outer === undefined ? 'model' : 'graph'} and would become an alias`,
      root,
    );
  const contradiction = findPatchContradiction(view, patch);
  if (contradiction !== undefined) return decline(`shapes would contradict each other: ${contradiction}`, root);
  const before = patch.replace.map(([old]) => ({ value: getValue(graph, old), type: view.typeOf(old) }));
  const names = before.map(({ value }) => value.name);
  const candidates = new Set([...matched, ...patch.also]);
  const builder = new PatchBuilder(view, patch, root, patch.add.length === 0 ? new Set() : namesOfOthers(graph, candidates));
  const graphs = graphsOf(view.scope);
  const added = patch.add.map(node => builder.addPatchNode(node));
  for (const [old, ref] of patch.replace) replaceValue(graph, old, ref);
  for (const node of added) view.inference.inferNode(graphs, node);
  for (const { value, type } of before) checkReplaced(view, rule, root, value, type);
  return { kind: 'applied', added: added.map(labelOf), removed: removeUnread(graph, [...patch.also, ...matched]), values: names };
}

/** Names of the nodes outside `candidates`: node names of a graph are kept distinct. */
function namesOfOthers(graph: Graph, candidates: ReadonlySet<Node>): Set<string> {
  const names = new Set<string>();
  for (const node of graph.nodes.values()) if (!candidates.has(node)) names.add(node.name);
  return names;
}

function canBeOutput(graph: Graph, ref: Ref): boolean {
  if (typeof ref !== 'number') return ref.kind === 'output';
  return graph.values.get(ref)?.producer !== undefined && !graph.outputs.includes(ref);
}

/** State of one patch while it is applied: the value in the graph for each of its references. */
class PatchBuilder {
  readonly #view: GraphView;
  readonly #patch: Patch;
  readonly #root: Node;
  readonly #names: Set<string>;
  readonly #made = new Map<PatchNode, Node>();
  readonly #constants = new Map<Ref, ValueId>();

  constructor(view: GraphView, patch: Patch, root: Node, names: Set<string>) {
    this.#view = view;
    this.#patch = patch;
    this.#root = root;
    this.#names = names;
  }

  addPatchNode(spec: PatchNode): Node {
    const { model, graph } = this.#view;
    const inputs = spec.inputs.map(input => (input === undefined ? undefined : this.valueOf(input)));
    const taken = this.#patch.replace.filter(([, ref]) => isOutputOf(ref, spec));
    const count = Math.max(...taken.map(([, ref]) => indexOf(ref)), this.#lastRead(spec), 0) + 1;
    const outputs = Array.from({ length: count }, (_, index) => {
      const old = taken.find(([, ref]) => indexOf(ref) === index)?.[0];
      if (old !== undefined) detach(graph, old);
      return old ?? freshName(model.graph, `${this.#baseName()}_${spec.opType}`);
    });
    const node = addNode(model, graph, {
      opType: spec.opType,
      name: this.#freeName(spec.name),
      inputs,
      attributes: spec.attributes,
      outputs,
      before: this.#root.id,
    });
    if (spec.name !== '' && spec.name === this.#root.name) {
      node.docString = this.#root.docString;
      node.metadata = new Map(this.#root.metadata);
    }
    this.#made.set(spec, node);
    return node;
  }

  /** The value for `ref`; a constant is added on first use. */
  valueOf(ref: Ref): ValueId {
    if (typeof ref === 'number') return ref;
    if (ref.kind === 'output') return outputAt(this.#made.get(ref.of), ref.index);
    const { model, graph, inference } = this.#view;
    const known = this.#constants.get(ref);
    if (known !== undefined) return known;
    const value = addInitializer(model, graph, freshName(model.graph, ref.name), ref.constant);
    inference.types.set(value.id, knownOfConstant(ref.constant));
    this.#constants.set(ref, value.id);
    return value.id;
  }

  #freeName(wanted: string): string {
    if (wanted === '') return '';
    let name = wanted;
    for (let n = 1; this.#names.has(name); n++) name = `${wanted}_${n}`;
    this.#names.add(name);
    return name;
  }

  #baseName(): string {
    const first = this.#root.outputs.find(output => output !== undefined);
    const value = first === undefined ? undefined : this.#view.graph.values.get(first);
    return value?.name ?? this.#root.opType;
  }

  #lastRead(spec: PatchNode): number {
    const reads = this.#patch.add.flatMap(node => node.inputs).filter(input => input !== undefined && isOutputOf(input, spec));
    return Math.max(...reads.map(ref => (ref === undefined ? 0 : indexOf(ref))), 0);
  }
}

function isOutputOf(ref: Ref, node: PatchNode): boolean {
  return typeof ref !== 'number' && ref.kind === 'output' && ref.of === node;
}

const indexOf = (ref: Ref): number => (typeof ref !== 'number' && ref.kind === 'output' ? ref.index : 0);

function outputAt(node: Node | undefined, index: number): ValueId {
  const output = node?.outputs[index];
  if (output === undefined) throw new OnnxError('patch-order', `a patch reads output ${index} of a node that it has not added yet`);
  return output;
}

/** Detaches a value from its producer; that output of the producer becomes an omitted one. */
export function detach(graph: Graph, id: ValueId): void {
  const value = getValue(graph, id);
  const producer = value.producer === undefined ? undefined : graph.nodes.get(value.producer);
  if (producer !== undefined) producer.outputs = producer.outputs.map(output => (output === id ? undefined : output));
  value.producer = undefined;
}

function replaceValue(graph: Graph, old: ValueId, ref: Ref): void {
  if (typeof ref === 'number') replaceByExisting(graph, old, ref);
  else if (ref.kind === 'constant') replaceByConstant(graph, old, ref.constant);
}

function replaceByConstant(graph: Graph, old: ValueId, constant: Constant): void {
  detach(graph, old);
  const value = getValue(graph, old);
  value.constant = constant;
  value.type = { kind: 'tensor', dtype: constant.dtype, dims: constant.dims };
}

/** Readers of `old` read `other` instead. If `old` is a model output, its name is kept and `old` takes the place of `other`. */
function replaceByExisting(graph: Graph, old: ValueId, other: ValueId): void {
  detach(graph, old);
  if (!graph.outputs.includes(old)) {
    replaceAllUses(graph, old, other);
    removeValue(graph, old);
    return;
  }
  const source = getValue(graph, other);
  const producer = getNode(graph, getDefined(source.producer, `the producer of "${source.name}"`));
  producer.outputs = producer.outputs.map(output => (output === other ? old : output));
  getValue(graph, old).producer = producer.id;
  replaceAllUses(graph, other, old);
  removeValue(graph, other);
}

function checkReplaced(view: GraphView, rule: RewriteRule, root: Node, value: Value, before: Known): void {
  const now = view.inference.types.get(value.id);
  if (now === undefined || !view.graph.values.has(value.id) || value.constant !== undefined) return;
  const sameDType = before.dtype === undefined || now.dtype === undefined || before.dtype === now.dtype;
  if (sameDType && areCompatible(before.dims, now.dims)) return;
  throw new OnnxError(
    'patch-changes-type',
    `rule ${rule.name} at ${describeNode(root, view.graph)}: value "${value.name}" is ${before.dtype} ${formatDims(before.dims)}, the patch would make it ${now.dtype} ${formatDims(now.dims)}`,
  );
}

function areCompatible(before: readonly Dim[] | undefined, now: readonly Dim[] | undefined): boolean {
  if (before === undefined || now === undefined) return true;
  return before.length === now.length && before.every((dim, axis) => typeof dim !== 'number' || isFree(now[axis]) || dim === now[axis]);
}

const isFree = (dim: Dim): boolean => typeof dim !== 'number';
