/** Shape inference over the nodes of a patch before the graph is changed, so that a patch that contradicts known types is declined. */
import { addInitializer, addNode, addValue } from '../ir/edit.js';
import type { Graph, Model, ValueId } from '../ir/model.js';
import { OnnxError } from '../ir/onnx-error.js';
import { graphsOf } from '../ir/scope.js';
import { knownOfConstant } from '../shape-inference/infer-shapes.js';
import type { GraphView } from './graph-view.js';
import type { Patch, PatchNode, Ref } from './patch.js';

const CONTRADICTIONS = new Set(['shape-mismatch', 'shape-contradiction']);

/** The error of shape inference over the patch, if any: inputs of a new node that do not match, or a replaced value with another type than declared. */
export function findPatchContradiction(view: GraphView, patch: Patch): string | undefined {
  if (patch.add.length === 0) return undefined;
  const trial = new TrialGraph(view, patch);
  try {
    for (const node of patch.add) trial.inferNode(node);
    return undefined;
  } catch (error) {
    if (error instanceof OnnxError && CONTRADICTIONS.has(error.code)) return error.message;
    throw error;
  } finally {
    trial.discard();
  }
}

/** The nodes of the patch in a separate graph nested in the one that they are for. */
class TrialGraph {
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

  discard(): void {
    for (const id of this.#graph.values.keys()) this.#view.inference.types.delete(id);
  }

  #valueOf(ref: Ref): ValueId {
    if (typeof ref === 'number') return ref;
    if (ref.kind === 'output') {
      const output = this.#outputs.get(ref.of)?.[ref.index];
      if (output === undefined) throw new OnnxError('patch-order', `a patch reads output ${ref.index} of a node that it has not added yet`);
      return output;
    }
    const value = addInitializer(this.#view.model, this.#graph, ref.name, ref.constant);
    this.#view.inference.types.set(value.id, knownOfConstant(ref.constant));
    return value.id;
  }

  /** As many outputs as are read; an output that takes over an old value has the declared type of that value. */
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
