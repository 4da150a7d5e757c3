/** What does a model take and give, by its own file? The measure of what a runner says and answers. */
import { basename } from 'node:path';
import { getDefined } from '../../base/invariant.js';
import type { Graph, Model, Value } from '../../onnx/ir/model.js';
import { decodeModel } from '../../onnx/serde/decode-model.js';
import { readModel } from '../../onnx/serde/model-file.js';
import type { DType } from '../../tensor/dtype.js';
import { formatShape } from '../../tensor/shape.js';
import type { TensorHeader, ValueHeader } from './messages.js';

export interface ModelSignature {
  /** For messages. */
  readonly name: string;
  readonly inputs: readonly SignatureValue[];
  readonly outputs: readonly SignatureValue[];
}

interface SignatureValue {
  readonly name: string;
  readonly dtype: DType | undefined;
  /** undefined: of unknown rank; null: a free size. */
  readonly dims: readonly (number | null)[] | undefined;
}

/** @throws OnnxError where the model cannot be read. */
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
  if (type?.kind !== 'tensor') return { name, dtype: undefined, dims: undefined };
  return { name, dtype: type.dtype, dims: type.dims?.map(dim => (typeof dim === 'number' ? dim : null)) };
}

/** How what the runner says of the loaded model differs from the model: one sentence each. */
export function compareSignature(
  { inputs, outputs }: ModelSignature,
  said: { readonly inputs: readonly ValueHeader[]; readonly outputs: readonly ValueHeader[] },
): readonly string[] {
  return [...compareSide('input', inputs, said.inputs), ...compareSide('output', outputs, said.outputs)];
}

function compareSide(side: string, own: readonly SignatureValue[], said: readonly ValueHeader[]): readonly string[] {
  const missing = own.filter(({ name }) => !said.some(value => value.name === name));
  return [
    ...missing.map(({ name }) => `it has no ${side} "${name}"`),
    ...said.flatMap(value => {
      const wanted = own.find(({ name }) => name === value.name);
      return wanted === undefined ? [`it has ${side} "${value.name}", which the model lacks`] : compareValue(side, wanted, value);
    }),
  ];
}

/** How a tensor that the runner gave for an output differs from what the model gives. */
export function compareOutput({ outputs }: ModelSignature, given: TensorHeader): readonly string[] {
  const wanted = outputs.find(({ name }) => name === given.name);
  return wanted === undefined ? [`output "${given.name}" is none of the model's`] : compareValue('output', wanted, given);
}

function compareValue(side: string, wanted: SignatureValue, { name, dtype, dims }: ValueHeader): readonly string[] {
  const problems: string[] = [];
  if (wanted.dtype !== undefined && dtype !== wanted.dtype)
    problems.push(`${side} "${name}" is ${dtype}, the model makes it ${wanted.dtype}`);
  if (wanted.dims !== undefined && !fits(dims, wanted.dims))
    problems.push(`${side} "${name}" is ${format(dims)}, the model makes it ${format(wanted.dims)}`);
  return problems;
}

function fits(dims: readonly (number | null)[], wanted: readonly (number | null)[]): boolean {
  return dims.length === wanted.length && dims.every((dim, axis) => dim === null || wanted[axis] === null || dim === wanted[axis]);
}

function format(dims: readonly (number | null)[]): string {
  return formatShape(dims.map(dim => dim ?? '?'));
}
