/** Small models for tests, written as data: inputs, constants, nodes. */
import { addInitializer, addInput, addNode, makeModel } from '../../src/onnx/ir/edit.js';
import type { Attribute, Constant, Dim, Model, ValueId } from '../../src/onnx/ir/model.js';
import type { DType } from '../../src/tensor/dtype.js';
import { encodeRawTensor } from '../../src/tensor/raw-tensor.js';
import { makeTensor, type Tensor } from '../../src/tensor/tensor.js';

export interface SmallNode {
  readonly op: string;
  /** Names; '' is an input left out. */
  readonly in: readonly string[];
  readonly out: readonly string[];
  readonly attributes?: Readonly<Record<string, Attribute>>;
  readonly name?: string;
}

export interface SmallModel {
  readonly opset?: number;
  readonly inputs: Readonly<Record<string, readonly [DType, readonly Dim[]]>>;
  readonly constants?: Readonly<Record<string, Constant>>;
  readonly nodes: readonly SmallNode[];
  readonly outputs: readonly string[];
}

/** Nodes are named after their first output unless they say otherwise. */
export function smallModel({ opset = 17, inputs, constants = {}, nodes, outputs }: SmallModel): Model {
  const model = makeModel({ opset, irVersion: 8, graphName: 'small' });
  const ids = new Map<string, ValueId>();
  for (const [name, [dtype, dims]] of Object.entries(inputs))
    ids.set(name, addInput(model, model.graph, name, { kind: 'tensor', dtype, dims }).id);
  for (const [name, constant] of Object.entries(constants)) ids.set(name, addInitializer(model, model.graph, name, constant).id);
  for (const spec of nodes) {
    const node = addNode(model, model.graph, {
      opType: spec.op,
      name: spec.name ?? spec.out[0] ?? '',
      inputs: spec.in.map(name => (name === '' ? undefined : getId(ids, name))),
      outputs: spec.out,
      attributes: spec.attributes ?? {},
    });
    for (const [index, name] of spec.out.entries()) {
      const id = node.outputs[index];
      if (id !== undefined) ids.set(name, id);
    }
  }
  model.graph.outputs = outputs.map(name => getId(ids, name));
  return model;
}

function getId(ids: ReadonlyMap<string, ValueId>, name: string): ValueId {
  const id = ids.get(name);
  if (id === undefined) throw new Error(`no value "${name}" before its reader`);
  return id;
}

export const floats = (dims: readonly number[], values: readonly number[]): Constant =>
  encodeRawTensor(makeTensor('float32', dims, Float32Array.from(values)));

export const integers = (values: readonly number[]): Constant =>
  encodeRawTensor(makeTensor('int64', [values.length], BigInt64Array.from(values, BigInt)));

/** A float32 tensor of seeded values in −1…1. */
export function randomFloats(dims: readonly number[], seed = 1): Tensor<'float32'> {
  const count = dims.reduce((product, dim) => product * dim, 1);
  let state = seed;
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 31 - 1;
  };
  return makeTensor('float32', dims, Float32Array.from({ length: count }, next));
}

export const randomConstant = (dims: readonly number[], seed = 1): Constant => encodeRawTensor(randomFloats(dims, seed));

/** Random constants of these shapes; the seeds are 1, 2, … in their order. */
export function randomConstants(shapes: Readonly<Record<string, readonly number[]>>): Record<string, ReturnType<typeof randomConstant>> {
  return Object.fromEntries(Object.entries(shapes).map(([name, dims], index) => [name, randomConstant(dims, index + 1)]));
}
