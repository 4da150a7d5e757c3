/** Would the nodes of a patch go together with what is known of the graph? They are inferred beside it, before the graph is touched. */
import { addInitializer, addNode, addValue } from '../ir/edit.js';
import type { Graph, Model, ValueId } from '../ir/model.js';
import { OnnxError } from '../ir/onnx-error.js';
import { graphsOf } from '../ir/scope.js';
import { knownOfConstant } from '../shape-inference/infer-shapes.js';
import type { GraphView } from './graph-view.js';
import type { Patch, PatchNode, Ref } from './patch.js';

const CONTRADICTIONS = new Set(['shape-mismatch', 'shape-contradiction']);

/** What shape inference says against the patch: that inputs of a new node cannot go together, or that a replaced value would be of another type than is stated. */
export function findMisfit(view: GraphView, patch: Patch): string | undefined {
  if (patch.add.length === 0) return undefined;
  const beside = new Beside(view, patch);
  try {
    for (const node of patch.add) beside.inferNode(node);
    return undefined;
  } catch (error) {
    if (error instanceof OnnxError && CONTRADICTIONS.has(error.code)) return error.message;
    throw error;
  } finally {
    beside.forget();
  }
}

/** The patch's nodes in a graph of their own inside the one that they are for. */
class Beside {
  readonly #view: GraphView;
  readonly #patch: Patch;
  readonly #graph: Graph;
  readonly #outputs = new Map<PatchNode, readonly ValueId[]>();

  constructor(view: GraphView, patch: Patch) {
    this.#view = view;
    this.#patch = patch;
    this.#graph = emptyGraph();
  }

  /** @throws OnnxError of shape inference. */
  inferNode(spec: PatchNode): void {
    const { model, inference, scope } = this.#view;
    const inputs = spec.inputs.map(input => (input === undefined ? undefined : this.#valueOf(input)));
    const outputs = this.#outputsOf(model, spec);
    this.#outputs.set(spec, outputs);
    const node = addNode(model, this.#graph, { opType: spec.opType, name: spec.name, inputs, attributes: spec.attributes, outputs });
    inference.inferNode([...graphsOf(scope), this.#graph], node);
  }

  forget(): void {
    for (const id of this.#graph.values.keys()) this.#view.inference.types.delete(id);
  }

  #valueOf(ref: Ref): ValueId {
    if (typeof ref === 'number') return ref;
    if (ref.kind === 'output') {
      const output = this.#outputs.get(ref.of)?.[ref.index];
      if (output === undefined)
        throw new OnnxError('patch-order', `a patch reads output ${ref.index} of a node that it does not add before`);
      return output;
    }
    const value = addInitializer(this.#view.model, this.#graph, ref.name, ref.constant);
    this.#view.inference.types.set(value.id, knownOfConstant(ref.constant));
    return value.id;
  }

  /** As many as anything reads; one that takes over an old value has the type that is stated of it. */
  #outputsOf(model: Model, spec: PatchNode): readonly ValueId[] {
    const refs = [...this.#patch.add.flatMap(node => node.inputs), ...this.#patch.replace.map(([, ref]) => ref)];
    const read = refs.map(ref =>
      ref !== undefined && typeof ref !== 'number' && ref.kind === 'output' && ref.of === spec ? ref.index : 0,
    );
    return Array.from({ length: Math.max(...read, 0) + 1 }, (_, index) => {
      const old = this.#patch.replace.find(
        ([, ref]) => typeof ref !== 'number' && ref.kind === 'output' && ref.of === spec && ref.index === index,
      );
      const type = old === undefined ? undefined : this.#view.graph.values.get(old[0])?.type;
      const name = old === undefined ? spec.opType : this.#view.nameOf(old[0]);
      return addValue(model, this.#graph, name, { type }).id;
    });
  }
}

function emptyGraph(): Graph {
  return { name: '', nodes: new Map(), values: new Map(), inputs: [], outputs: [], docString: '', metadata: new Map(), unknown: [] };
}
