/** Runs the parts of a detector on sessions: one model per part, or one model that holds all parts. */
import { getDefined, invariant } from '../../base/invariant.js';
import type { Session } from '../../runtime/session/session.js';
import { decodeFloat16Array } from '../../tensor/numeric/half.js';
import { formatShape, sameShape } from '../../tensor/shape.js';
import { makeTensor, type Tensor } from '../../tensor/tensor.js';
import { DetectionError } from '../error/detection-error.js';
import type { DetectorPart } from './detector-part.js';

/** Values by their names in the host recipe. */
export type PartValuesByName = Readonly<Record<string, Tensor<'float32'>>>;

/** Runs one part on its inputs, without batching, and returns all of its outputs. @throws DetectionError `part-values`, RuntimeError `model-run`. */
export type RunPart = (part: string, inputs: PartValuesByName) => Promise<PartValuesByName>;

/** One session of one part. Running another part is an internal error. @throws DetectionError `part-values`. */
export function runnerOfPart(session: Session, part: DetectorPart): RunPart {
  checkNames(part, session);
  return async (name, inputs) => {
    invariant(name === part.name, `part ${name} cannot run on the model of part ${part.name}`);
    return toFloats(name, await session.run(asGiven(inputs), part.values.outputs));
  };
}

/** One session of a model that has the inputs and outputs of all parts. The inputs of the other parts are zeros, of one RoI where the batch is free. */
export function runnerOfWhole(session: Session, parts: readonly DetectorPart[]): RunPart {
  for (const part of parts) checkNames(part, session);
  const idle = Object.assign({}, ...parts.map(makeIdleInputs)) as PartValuesByName;
  return async (name, inputs) => {
    const { values } = getDefined(
      parts.find(part => part.name === name),
      name,
    );
    return toFloats(name, await session.run(asGiven({ ...idle, ...inputs }), values.outputs));
  };
}

/** The data of value `name`, after a check of its shape. @throws DetectionError `part-values`. */
export function getPartValue(values: PartValuesByName, name: string, dims: readonly number[]): Float32Array {
  const tensor = values[name];
  if (tensor === undefined) throw new DetectionError('part-values', `the parts of the detector have no output "${name}"`);
  if (!sameShape(tensor.dims, dims)) {
    throw new DetectionError(
      'part-values',
      `value "${name}" is ${formatShape(tensor.dims)}; the host recipe expects ${formatShape(dims)}`,
      {
        help: 'use the model, host recipe and detector config of the same export',
      },
    );
  }
  return tensor.data;
}

/** @throws DetectionError `part-values` if the session lacks an input or output of the part. */
export function checkNames({ name, values }: Pick<DetectorPart, 'name' | 'values'>, session: Session): void {
  const missing = [
    ...values.inputs.filter(one => !session.inputNames.includes(one)),
    ...values.outputs.filter(one => !session.outputNames.includes(one)),
  ];
  if (missing.length === 0) return;
  throw new DetectionError(
    'part-values',
    `the model of part ${name} has no ${missing.join(', ')}; it has inputs ${session.inputNames.join(', ')} and outputs ${session.outputNames.join(', ')}`,
    { help: 'connect each part to its own model, and the host recipe that was written with the models' },
  );
}

function makeIdleInputs({ inputs, rois }: DetectorPart): PartValuesByName {
  const batch = rois === 'none' ? [] : [rois === 'free' ? 1 : rois];
  return Object.fromEntries(Object.entries(inputs).map(([name, dims]) => [name, makeZeros([...batch, ...dims])]));
}

function makeZeros(dims: readonly number[]): Tensor<'float32'> {
  return makeTensor('float32', dims, new Float32Array(dims.reduce((product, dim) => product * dim, 1)));
}

/** Integers become floats. @throws DetectionError `part-values` for other types. */
export function toFloats(part: string, values: Readonly<Record<string, Tensor>>): PartValuesByName {
  return Object.fromEntries(Object.entries(values).map(([name, tensor]) => [name, toFloat(`value "${name}" of part ${part}`, tensor)]));
}

/** Values as a part gave them, by their float32 copies: integers beyond 24 bits would not survive, and later parts read the types of the model. */
const givenValues = new WeakMap<Tensor, Tensor>();

function keepGiven(given: Tensor, data: Float32Array): Tensor<'float32'> {
  const copy = makeTensor('float32', given.dims, data);
  givenValues.set(copy, given);
  return copy;
}

/** The values with the types that the parts, or the image, gave them. */
export function asGiven(values: PartValuesByName): Readonly<Record<string, Tensor>> {
  return Object.fromEntries(Object.entries(values).map(([name, tensor]) => [name, givenValues.get(tensor) ?? tensor]));
}

/** Converts integers, such as classes, and float64 to float32. Integers of up to 24 bits are exact. */
function toFloat(what: string, tensor: Tensor): Tensor<'float32'> {
  switch (tensor.dtype) {
    case 'float32':
      return tensor;
    case 'int64':
    case 'int32':
    case 'uint8':
    case 'int8':
    case 'uint16':
    case 'int16':
    case 'bool':
    case 'float64':
      return keepGiven(tensor, Float32Array.from(tensor.data as ArrayLike<number | bigint>, Number));
    case 'float16':
      return keepGiven(tensor, decodeFloat16Array(tensor.data));
    default:
      throw new DetectionError('part-values', `${what} is ${tensor.dtype}; expected floats or integers`);
  }
}
