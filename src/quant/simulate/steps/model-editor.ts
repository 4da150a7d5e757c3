/** Adds operators to a model that computes another arithmetic: names, constants, and the replacement of values. */
import { getDefined } from '../../../base/invariant.js';
import { addInitializer, addNode, indexUses, setInput, type Use } from '../../../onnx/ir/edit.js';
import type { Attribute, Constant, Graph, Model, Node, ValueId } from '../../../onnx/ir/model.js';
import { decodeRawTensor, encodeRawTensor } from '../../../tensor/raw-tensor.js';
import { makeTensor } from '../../../tensor/tensor.js';

/** Edits its model in place. Nodes are added at the end: sort the graph afterwards. */
export class ModelEditor {
  readonly model: Model;
  readonly graph: Graph;
  #uses: ReadonlyMap<ValueId, readonly Use[]>;
  #count = 0;

  readonly #prefix: string;

  /** @param prefix of the names of new nodes and values. */
  constructor(model: Model, prefix = 'tanren.simulate/') {
    this.model = model;
    this.#prefix = prefix;
    this.graph = model.graph;
    this.#uses = indexUses(model.graph);
  }

  /** Adds a node with one output. */
  add(opType: string, inputs: readonly ValueId[], attributes: Readonly<Record<string, Attribute>> = {}): ValueId {
    const name = this.#freshName();
    const { outputs } = addNode(this.model, this.graph, { opType, name, inputs, outputs: [name], attributes });
    return getDefined(outputs[0], name);
  }

  constant(constant: Constant): ValueId {
    return addInitializer(this.model, this.graph, this.#freshName(), constant).id;
  }

  float(value: number): ValueId {
    return this.constant(encodeRawTensor(makeTensor('float32', [], new Float32Array([value]))));
  }

  double(value: number): ValueId {
    return this.constant(encodeRawTensor(makeTensor('float64', [], new Float64Array([value]))));
  }

  integers(values: readonly number[]): ValueId {
    return this.constant(encodeRawTensor(makeTensor('int64', [values.length], BigInt64Array.from(values, BigInt))));
  }

  /** Nodes that read the value, before the edits since `readAgain`. */
  readersOf(id: ValueId | undefined): readonly Node[] {
    return id === undefined ? [] : (this.#uses.get(id) ?? []).map(use => use.node);
  }

  isReadOnce(id: ValueId): boolean {
    return this.readersOf(id).length === 1 && !this.graph.outputs.includes(id);
  }

  /** Takes notice of the edits since. */
  readAgain(): void {
    this.#uses = indexUses(this.graph);
  }

  producerOf(id: ValueId | undefined): Node | undefined {
    const producer = id === undefined ? undefined : this.graph.values.get(id)?.producer;
    return producer === undefined ? undefined : this.graph.nodes.get(producer);
  }

  /** The element of a constant that has one. */
  numberOf(id: ValueId | undefined): number | undefined {
    const constant = id === undefined ? undefined : this.graph.values.get(id)?.constant;
    if (constant === undefined || constant.dtype === 'string') return undefined;
    const [value, ...more] = Array.from(decodeRawTensor(constant).data as ArrayLike<number>, Number);
    return more.length === 0 ? value : undefined;
  }

  /** The nodes that read `value` read `by`. Outputs of the graph stay. */
  replaceReaders(value: ValueId, by: ValueId): void {
    for (const reader of this.readersOf(value))
      for (const [index, input] of reader.inputs.entries()) if (input === value) setInput(reader, index, by);
  }

  #freshName(): string {
    return `${this.#prefix}${this.#count++}`;
  }
}
