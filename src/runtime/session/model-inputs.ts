/** The inputs of a model, and checks of tensors against them. */
import type { Dim, Model } from '../../onnx/ir/model.js';
import type { DType } from '../../tensor/dtype.js';
import { formatShape, type Shape } from '../../tensor/shape.js';
import type { Tensor } from '../../tensor/tensor.js';
import { RuntimeError } from './runtime-error.js';

export interface ModelInput {
  readonly name: string;
  /** undefined: the model does not declare it. */
  readonly dtype: DType | undefined;
  readonly dims: readonly Dim[] | undefined;
}

/** Tensors by the model's value names. */
export type NamedTensors = Readonly<Record<string, Tensor>>;

/** Inputs without a default, in the model's order. */
export function listModelInputs({ graph }: Model): ModelInput[] {
  return graph.inputs.flatMap(id => {
    const value = graph.values.get(id);
    if (value === undefined || value.constant !== undefined) return [];
    const type = value.type?.kind === 'tensor' ? value.type : undefined;
    return [{ name: value.name, dtype: type?.dtype, dims: type?.dims }];
  });
}

/**
 * Selects the tensors of the model's inputs from `tensors`; other tensors are ignored.
 * @param place the origin of the tensors, for messages.
 * @throws RuntimeError `sample-mismatch` if one is missing, or has another dtype or shape than the model declares.
 */
export function pickFeeds(inputs: readonly ModelInput[], tensors: NamedTensors, place: string): NamedTensors {
  return Object.fromEntries(
    inputs.map(input => {
      const tensor = Object.hasOwn(tensors, input.name) ? tensors[input.name] : undefined;
      if (tensor === undefined) {
        throw mismatch(place, `no tensor for input "${input.name}"; found ${Object.keys(tensors).join(', ') || 'none'}`);
      }
      return [input.name, checkFeed(input, tensor, place)];
    }),
  );
}

/** @throws RuntimeError `sample-mismatch`. */
export function checkFeed(input: ModelInput, tensor: Tensor, place: string): Tensor {
  const { dtype, dims } = input;
  if (dtype !== undefined && dtype !== tensor.dtype) {
    throw mismatch(place, `the tensor for input "${input.name}" is ${tensor.dtype}, the model expects ${dtype}`);
  }
  if (dims === undefined || fitsDims(tensor.dims, dims)) return tensor;
  throw mismatch(place, `the tensor for input "${input.name}" is ${formatShape(tensor.dims)}, the model expects ${formatDims(dims)}`);
}

/** @throws RuntimeError `not-finite` if a float32 tensor has NaN or infinity: results from it would be meaningless. */
export function checkFinite(feeds: NamedTensors): void {
  for (const [name, tensor] of Object.entries(feeds)) {
    if (tensor.dtype !== 'float32') continue;
    const odd = tensor.data.reduce((count, x) => count + (Number.isFinite(x) ? 0 : 1), 0);
    if (odd === 0) continue;
    throw new RuntimeError('not-finite', `input "${name}" has ${odd} NaN or infinite of ${tensor.data.length} elements`, {
      help: 'the input data contains them: check how the data was prepared',
    });
  }
}

/** Whether the tensor has the dtype and the sizes that the model declares. */
export function fitsInput({ dtype, dims }: ModelInput, tensor: Tensor): boolean {
  return (dtype === undefined || dtype === tensor.dtype) && (dims === undefined || fitsDims(tensor.dims, dims));
}

/** "float32 [N, 3, 8, 8]". */
export function describeInput({ dtype, dims }: ModelInput): string {
  return [dtype ?? 'any type', dims === undefined ? '' : formatDims(dims)].join(' ').trimEnd();
}

function fitsDims(shape: Shape, dims: readonly Dim[]): boolean {
  return shape.length === dims.length && dims.every((dim, axis) => typeof dim !== 'number' || dim === shape[axis]);
}

/** Unknown sizes by name, or "?". */
export function formatDims(dims: readonly Dim[]): string {
  return formatShape(dims.map(dim => dim ?? '?'));
}

export function mismatch(place: string, message: string): RuntimeError {
  return new RuntimeError('sample-mismatch', `${place}: ${message}`, {
    help: "names, dtypes and sizes must match the model's inputs, including the first axis if the model fixes it",
  });
}
