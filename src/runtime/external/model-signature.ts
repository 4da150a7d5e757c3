/** The signature of a model file: its inputs and outputs, against which the answers of a runner are checked. */
import { basename } from 'node:path';
import { getDefined } from '../../base/invariant.js';
import type { Dim, Graph, Model, Value } from '../../onnx/ir/model.js';
import { decodeModel } from '../../onnx/serde/decode-model.js';
import { readModel } from '../../onnx/serde/model-file.js';
import type { DType } from '../../tensor/dtype.js';
import { formatShape } from '../../tensor/shape.js';
import type { TensorHeader, ValueHeader } from './messages.js';

export interface ModelSignature {
  /** Name for messages. */
  readonly name: string;
  readonly inputs: readonly SignatureValue[];
  readonly outputs: readonly SignatureValue[];
}

interface SignatureValue {
  readonly name: string;
  readonly dtype: DType | undefined;
  /** undefined: unknown rank. */
  readonly dims: readonly Dim[] | undefined;
}

/** Values of named dimensions, from the inputs of one run. */
type Sizes = ReadonlyMap<string, number>;

/** @throws OnnxError if the model cannot be read. */
export async function readSignature(model: string | Uint8Array): Promise<ModelSignature> {
  if (typeof model === 'string') return signatureOf(await readModel(model), basename(model));
  return signatureOf(decodeModel(model), 'the model');
}

function signatureOf({ graph }: Model, name: string): ModelSignature {
  const inputs = graph.inputs.map(id => getValue(graph, id)).filter(value => value.constant === undefined);
  return { name, inputs: inputs.map(describe), outputs: graph.outputs.map(id => describe(getValue(graph, id))) };
}

function getValue(graph: Graph, id: Graph['inputs'][number]): Value {
  return getDefined(graph.values.get(id), `value ${id}`);
}

function describe({ name, type }: Value): SignatureValue {
  return type?.kind === 'tensor' ? { name, dtype: type.dtype, dims: type.dims } : { name, dtype: undefined, dims: undefined };
}

/** Differences between the runner's report of the loaded model and the model, one sentence each. */
export function compareSignature(
  { inputs, outputs }: ModelSignature,
  reported: { readonly inputs: readonly ValueHeader[]; readonly outputs: readonly ValueHeader[] },
): readonly string[] {
  return [...compareSide('input', inputs, reported.inputs), ...compareSide('output', outputs, reported.outputs)];
}

function compareSide(side: string, own: readonly SignatureValue[], reported: readonly ValueHeader[]): readonly string[] {
  const missing = own.filter(({ name }) => !reported.some(value => value.name === name));
  return [
    ...missing.map(({ name }) => `it lacks ${side} "${name}"`),
    ...reported.flatMap(value => {
      const wanted = own.find(({ name }) => name === value.name);
      return wanted === undefined
        ? [`it has ${side} "${value.name}", which the model does not have`]
        : compareValue(side, wanted, value, new Map());
    }),
  ];
}

/** Differences between the outputs of a run and the model's outputs for these inputs. Named sizes take their values from the inputs. */
export function compareOutputs(
  { inputs: own, outputs }: ModelSignature,
  run: { readonly inputs: readonly TensorHeader[]; readonly wanted: readonly string[]; readonly outputs: readonly TensorHeader[] },
): readonly string[] {
  const names = run.outputs.map(({ name }) => name);
  if (names.length !== run.wanted.length || names.some((name, index) => name !== run.wanted[index]))
    return [`its outputs are ${names.join(', ')}; expected ${run.wanted.join(', ')}`];
  const sizes = sizesOf(own, run.inputs);
  return run.outputs.flatMap(given => {
    const wanted = outputs.find(({ name }) => name === given.name);
    return wanted === undefined ? [`output "${given.name}" is not an output of the model`] : compareValue('output', wanted, given, sizes);
  });
}

function sizesOf(own: readonly SignatureValue[], fed: readonly TensorHeader[]): Sizes {
  const sizes = new Map<string, number>();
  for (const { name, dims } of fed) {
    for (const [axis, dim] of (own.find(value => value.name === name)?.dims ?? []).entries()) {
      if (typeof dim === 'string') sizes.set(dim, dims[axis] ?? 0);
    }
  }
  return sizes;
}

function compareValue(side: string, wanted: SignatureValue, { name, dtype, dims }: ValueHeader, sizes: Sizes): readonly string[] {
  const problems: string[] = [];
  if (wanted.dtype !== undefined && dtype !== wanted.dtype) problems.push(`${side} "${name}" is ${dtype}, expected ${wanted.dtype}`);
  const known = wanted.dims?.map(dim => (typeof dim === 'string' ? (sizes.get(dim) ?? null) : (dim ?? null)));
  if (known !== undefined && !fits(dims, known)) problems.push(`${side} "${name}" is ${format(dims)}, expected ${format(known)}`);
  return problems;
}

function fits(dims: readonly (number | null)[], wanted: readonly (number | null)[]): boolean {
  return dims.length === wanted.length && dims.every((dim, axis) => dim === null || wanted[axis] === null || dim === wanted[axis]);
}

function format(dims: readonly (number | null)[]): string {
  return formatShape(dims.map(dim => dim ?? '?'));
}
