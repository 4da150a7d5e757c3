/** Payloads: tensors one after another in the order of their headers, without gaps. */
import { decodeRawTensor, encodeRawTensor, makeRawTensor } from '../../tensor/raw-tensor.js';
import type { Tensor } from '../../tensor/tensor.js';
import { TensorError } from '../../tensor/tensor-error.js';
import type { TensorHeader } from './messages.js';
import type { ModelSignature } from './model-signature.js';
import { RunnerError } from './runner-error.js';

export interface EncodedFeeds {
  readonly headers: readonly TensorHeader[];
  /** Views of the tensors' memory. */
  readonly pieces: readonly Uint8Array[];
}

/** The feeds of all inputs, in the model's order. @throws RunnerError `runner-feeds`; TensorError `no-raw-form`. */
export function encodeFeeds({ name: model, inputs }: ModelSignature, feeds: Readonly<Record<string, Tensor>>): EncodedFeeds {
  const encoded = inputs.map(({ name }) => {
    const tensor = feeds[name];
    if (tensor === undefined) throw new RunnerError('runner-feeds', `input "${name}" of ${model} is missing`);
    const { dtype, dims, bytes } = encodeRawTensor(tensor);
    return { header: { name, dtype, dims, bytes: bytes.byteLength }, bytes };
  });
  return { headers: encoded.map(({ header }) => header), pieces: encoded.map(({ bytes }) => bytes) };
}

export type ReadOutputs =
  | { readonly kind: 'tensors'; readonly tensors: Readonly<Record<string, Tensor>> }
  | { readonly kind: 'wrong'; readonly problem: string };

/** The tensors of a payload by name, or the reason why it is invalid. */
export function readOutputs(headers: readonly TensorHeader[], payload: Uint8Array): ReadOutputs {
  const announced = headers.reduce((sum, { bytes }) => sum + bytes, 0);
  if (announced !== payload.byteLength)
    return { kind: 'wrong', problem: `its headers announce ${announced} bytes, but the payload has ${payload.byteLength}` };
  const tensors: Record<string, Tensor> = {};
  let offset = 0;
  for (const header of headers) {
    const tensor = readOutput(header, payload.subarray(offset, offset + header.bytes));
    if (typeof tensor === 'string') return { kind: 'wrong', problem: tensor };
    tensors[header.name] = tensor;
    offset += header.bytes;
  }
  return { kind: 'tensors', tensors };
}

function readOutput({ name, dtype, dims }: TensorHeader, bytes: Uint8Array): Tensor | string {
  if (dtype === 'string') return `output "${name}" is of type string, which has no raw form`;
  try {
    return decodeRawTensor(makeRawTensor(dtype, dims, bytes));
  } catch (error) {
    if (!(error instanceof TensorError)) throw error;
    return `output "${name}": ${error.message}`;
  }
}
