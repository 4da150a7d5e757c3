/** The index of a captured data set: the parts with their values, and the file and row count of each sample and part. */

import { formatJsonProblems, readJsonShape } from '../../base/json/json-shape.js';
import type { Json } from '../../base/json.js';
import { keysOf } from '../../base/keys-of.js';
import { anyList, anyOf, constant, integer, list, mapOf, matching, object, oneOf, text } from '../../base/schema/build-schema.js';
import { DIGEST_SCHEMA } from '../../base/schema/digest-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';
import { readerOf } from '../../base/schema/schema-reader.js';
import { DTYPES } from '../../tensor/dtype.js';
import { RuntimeError } from '../session/runtime-error.js';

export const INDEX_FILE = 'index.json';

const DIM = anyOf(
  [oneOf(['rows', 'free']), integer(0)],
  "A number: equal in all samples. rows: the number of the sample's rows. free: any other size that differs between samples.",
);

/** A size. */
export type CapturedDim = FromSchema<typeof DIM>;

export const CAPTURED_VALUE_SCHEMA = object({
  role: oneOf(['input', 'output']),
  name: text('The name in the model.'),
  dtype: oneOf(keysOf(DTYPES)),
  dims: anyList(DIM, 'Scalars have no sizes.'),
  array: text("The array's name in the npz file of a sample."),
});

export type CapturedValue = FromSchema<typeof CAPTURED_VALUE_SCHEMA>;

const PART = object({
  name: text(),
  /** Structure and weights, without names. */
  model: DIGEST_SCHEMA,
  values: list(CAPTURED_VALUE_SCHEMA, "Inputs in the model's order, then outputs in the model's order."),
});

/** A captured model: a part of a detector, or 'model' for a model without a detector. */
export type CapturedPart = FromSchema<typeof PART>;

const TENSORS = object({
  /** The path cannot leave the folder. */
  file: matching(
    /^\w[\w-]*(\.[\w-]+)*(\/\w[\w-]*(\.[\w-]+)*)*$/,
    'a path inside the folder, of letters, digits, "_", "-", "." and "/"',
    'Relative to the folder, with slashes.',
  ),
  rows: integer(0, "Length of the first axis of the part's inputs: kept RoIs, or the batch; 0 if the image has no row for the part."),
  seen: integer(0, 'RoIs that the detector found; equal to `rows` if none was dropped.'),
});

export type CapturedTensors = FromSchema<typeof TENSORS>;

const SAMPLE = object({
  id: text("An image id, or the sample's file or folder. Unique."),
  source: text('The origin: a path relative to the data set.'),
  parts: mapOf(TENSORS, { description: 'One entry per part.' }),
});

export type CapturedSample = FromSchema<typeof SAMPLE>;

export const CAPTURE_INDEX_SCHEMA = object({
  format: constant('tanren-capture'),
  version: constant(1),
  parts: list(PART),
  samples: list(SAMPLE, 'In the order of the data set.'),
});

export type CaptureIndex = FromSchema<typeof CAPTURE_INDEX_SCHEMA>;

const indexReader = readerOf(CAPTURE_INDEX_SCHEMA);

/** Row counts of one part, one entry per sample. @throws RuntimeError `capture-part`. */
export function rowCounts(index: CaptureIndex, part: string): { readonly kept: readonly number[]; readonly seen: readonly number[] } {
  getCapturedPart(index, part);
  const tensors = index.samples.flatMap(sample => sample.parts[part] ?? []);
  return { kept: tensors.map(({ rows }) => rows), seen: tensors.map(({ seen }) => seen) };
}

/** @throws RuntimeError `capture-part` if the data set was captured without the part. */
export function getCapturedPart(index: CaptureIndex, name: string): CapturedPart {
  const part = index.parts.find(one => one.name === name);
  if (part !== undefined) return part;
  throw new RuntimeError('capture-part', `the captured tensors have no part "${name}"; they have ${listParts(index)}`, {
    help: 'capture the detector of this part, or choose another part',
  });
}

function listParts({ parts }: CaptureIndex): string {
  return parts.map(part => `${part.name} (${inputsOf(part).join(', ')})`).join(', ');
}

function inputsOf({ values }: CapturedPart): string[] {
  return values.flatMap(({ role, name }) => (role === 'input' ? [name] : []));
}

/** @throws RuntimeError `bad-capture`, listing every problem. */
export function parseCaptureIndex(value: Json): CaptureIndex {
  const read = readJsonShape(indexReader, value);
  const lines = read.kind === 'ok' ? findContradictions(read.value) : formatJsonProblems(read.problems);
  if (read.kind === 'ok' && lines.length === 0) return read.value;
  throw new RuntimeError('bad-capture', `invalid ${INDEX_FILE} of captured tensors: ${lines.join('; ')}`, {
    details: lines,
    help: 'run `capture` again with this version to write a new index',
  });
}

function findContradictions({ parts, samples }: CaptureIndex): string[] {
  const names = parts.map(part => part.name);
  const ids = samples.map(sample => sample.id);
  const twice = (all: readonly string[], what: string) =>
    all.filter((one, index) => all.indexOf(one) !== index).map(one => `${what} "${one}" is a duplicate`);
  const files = samples.flatMap(sample => Object.values(sample.parts).map(tensors => tensors.file));
  const arrays = parts.flatMap(part =>
    twice(
      part.values.map(value => value.array),
      `part "${part.name}": array`,
    ),
  );
  const idle = parts.filter(part => inputsOf(part).length === 0).map(part => `part "${part.name}" has no input`);
  const incomplete = samples.flatMap(({ id, parts: own }) =>
    [...names.filter(name => !Object.hasOwn(own, name)), ...Object.keys(own).filter(name => !names.includes(name))].map(
      name => `part "${name}" is in only one of sample "${id}" and the list of parts`,
    ),
  );
  const overfull = samples.flatMap(({ id, parts: own }) =>
    Object.entries(own).flatMap(([name, { rows, seen }]) =>
      rows > seen ? [`sample "${id}", part "${name}": ${rows} rows, but only ${seen} seen`] : [],
    ),
  );
  return [...twice(names, 'part'), ...twice(ids, 'sample'), ...twice(files, 'file'), ...arrays, ...idle, ...incomplete, ...overfull];
}
