/** How does a patch become part of the graph? Old values are handed to their new producers; what nothing reads any more goes; then dtype, shape and names are checked. */
import { getDefined } from '../../base/invariant.js';
import { addInitializer, addNode, freshName, getNode, getValue, removeValue, replaceAllUses } from '../ir/edit.js';
import type { Constant, Dim, Graph, Node, Value, ValueId } from '../ir/model.js';
import { OnnxError } from '../ir/onnx-error.js';
import { graphsOf } from '../ir/scope.js';
import { describeNode, formatDims, type Known } from '../shape-inference/context/node-context.js';
import { knownOfConstant } from '../shape-inference/infer-shapes.js';
import type { GraphView } from './graph-view.js';
import { findMisfit } from './infer-patch.js';
import type { HostStep, Patch, PatchNode, Ref } from './patch.js';
import { labelOf, removeUnread } from './remove-unread.js';
import { type Decline, decline, type RewriteRule } from './rule.js';

export interface AppliedPatch {
  readonly kind: 'applied';
  /** Labels of the nodes that the patch added and of those that went. */
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Names of the values that have a new source. */
  readonly values: readonly string[];
  /** Of a cut: what the host does instead. */
  readonly host?: HostWork;
}

/** What was cut at an end of the model. */
export interface HostWork {
  readonly side: 'input' | 'output';
  /** The name of the input or output. */
  readonly end: string;
  readonly steps: readonly HostStep[];
}

/**
 * Applies `patch`, which `rule` made for the match rooted at `root`; `matched` are the match's nodes.
 * @returns a decline, with the graph untouched, where an output of the graph would have to become an alias of an input, a constant or another output,
 *   or where shape inference finds that the new nodes do not go together with what is known.
 * @throws OnnxError `patch-changes-type` where a replaced value would get another dtype or shape.
 */
export function applyPatch(view: GraphView, rule: RewriteRule, root: Node, matched: readonly Node[], patch: Patch): AppliedPatch | Decline {
  const { graph } = view;
  const blocked = patch.replace.find(([old, ref]) => graph.outputs.includes(old) && !canBeOutput(graph, ref));
  if (blocked !== undefined)
    return decline(
      `"${view.nameOf(blocked[0])}" is an output of the ${view.scope.around === undefined ? 'model' : 'graph'} and would become an alias`,
      root,
    );
  const misfit = findMisfit(view, patch);
  if (misfit !== undefined) return decline(`shapes would not fit: ${misfit}`, root);
  const before = patch.replace.map(([old]) => ({ value: getValue(graph, old), type: view.typeOf(old) }));
  const names = before.map(({ value }) => value.name);
  const going = new Set([...matched, ...patch.also]);
  const building = new Building(view, patch, root, patch.add.length === 0 ? new Set() : namesBeside(graph, going));
  const graphs = graphsOf(view.scope);
  const added = patch.add.map(node => building.addPatchNode(node));
  for (const [old, ref] of patch.replace) replaceValue(graph, old, ref);
  for (const node of added) view.inference.inferNode(graphs, node);
  for (const { value, type } of before) checkReplaced(view, rule, root, value, type);
  return { kind: 'applied', added: added.map(labelOf), removed: removeUnread(graph, [...patch.also, ...matched]), values: names };
}

/** Names of the nodes that stay: no two of a graph may have the same. */
function namesBeside(graph: Graph, going: ReadonlySet<Node>): Set<string> {
  const names = new Set<string>();
  for (const node of graph.nodes.values()) if (!going.has(node)) names.add(node.name);
  return names;
}

function canBeOutput(graph: Graph, ref: Ref): boolean {
  if (typeof ref !== 'number') return ref.kind === 'output';
  return graph.values.get(ref)?.producer !== undefined && !graph.outputs.includes(ref);
}

/** One patch on its way into the graph: which value each of its references has become. */
class Building {
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

  /** The value that `ref` has become; a constant is added when first asked for. */
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
  if (output === undefined) throw new OnnxError('patch-order', `a patch reads output ${index} of a node that it does not add before`);
  return output;
}

/** Takes `value` from its producer, whose output becomes one left out. */
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

/** Readers of `old` read `other`; where `old` is a model output, its name wins and `other` becomes it. */
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
  if (sameDType && compatible(before.dims, now.dims)) return;
  throw new OnnxError(
    'patch-changes-type',
    `rule ${rule.name} at ${describeNode(root, view.graph)}: "${value.name}" was ${before.dtype} ${formatDims(before.dims)}, the patch makes it ${now.dtype} ${formatDims(now.dims)}`,
  );
}

function compatible(before: readonly Dim[] | undefined, now: readonly Dim[] | undefined): boolean {
  if (before === undefined || now === undefined) return true;
  return before.length === now.length && before.every((dim, axis) => typeof dim !== 'number' || isOpen(now[axis]) || dim === now[axis]);
}

const isOpen = (dim: Dim): boolean => typeof dim !== 'number';
