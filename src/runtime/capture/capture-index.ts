/** The index of a captured data set: the parts with their values, and the file and row count of each sample and part. */
import { type Digest, parseDigest } from '../../base/digest.js';
import type { Json, JsonObject } from '../../base/json.js';
import { fields, formatJsonProblems, integer, type JsonReader, list, literal, readJsonShape, record, text } from '../../base/json-shape.js';
import type { DType } from '../../tensor/dtype.js';
import { DTYPES } from '../../tensor/dtype.js';
import { RuntimeError } from '../session/session.js';

export const INDEX_FILE = 'index.json';

/** A size: a number equal in all samples; 'rows': the number of the sample's rows; 'free': any other size that differs between samples. */
export type CapturedDim = number | 'rows' | 'free';

export interface CapturedValue {
  readonly role: 'input' | 'output';
  /** The name in the model. */
  readonly name: string;
  readonly dtype: DType;
  readonly dims: readonly CapturedDim[];
  /** The array's name in the npz file of a sample. */
  readonly array: string;
}

/** A captured model: a part of a detector, or 'model' for a model without a detector. */
export interface CapturedPart {
  readonly name: string;
  /** Content digest of the model: structure and weights, without names. */
  readonly model: Digest;
  /** Inputs in the model's order, then outputs in the model's order. */
  readonly values: readonly CapturedValue[];
}

export interface CapturedTensors {
  /** Relative to the folder, with slashes. */
  readonly file: string;
  /** Length of the first axis of the part's inputs: kept RoIs, or the batch; 0 if the image has no row for the part. */
  readonly rows: number;
  /** RoIs that the detector found; equal to `rows` if none was dropped. */
  readonly seen: number;
}

export interface CapturedSample {
  /** An image id, or the sample's file or folder. Unique. */
  readonly id: string;
  /** The origin: a path relative to the data set. */
  readonly source: string;
  /** One entry per part. */
  readonly parts: Readonly<Record<string, CapturedTensors>>;
}

export interface CaptureIndex {
  readonly format: 'tanren-capture';
  readonly version: 1;
  readonly parts: readonly CapturedPart[];
  /** In the order of the data set. */
  readonly samples: readonly CapturedSample[];
}

export function encodeCaptureIndex(index: CaptureIndex): JsonObject {
  return index as unknown as JsonObject;
}

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

const dim: JsonReader<CapturedDim> = (value, path, problems) =>
  value === 'rows' || value === 'free' ? value : integer(0)(value, path, problems);

/** A list that may be empty: scalars have no sizes. */
const dims: JsonReader<readonly CapturedDim[]> = (value, path, problems) =>
  Array.isArray(value) && value.length === 0 ? [] : list(dim)(value, path, problems);

const dtype: JsonReader<DType> = (value, path, problems) => {
  const known = typeof value === 'string' && Object.hasOwn(DTYPES, value);
  if (!known) problems.push({ path, message: 'should be a dtype' });
  return known ? (value as DType) : undefined;
};

const digest: JsonReader<Digest> = (value, path, problems) => {
  const parsed = parseDigest(value);
  if (parsed === undefined) problems.push({ path, message: 'should be a SHA-256 digest' });
  return parsed;
};

/** Paths that cannot leave the folder. */
const SAFE_PATH = /^\w[\w-]*(\.[\w-]+)*(\/\w[\w-]*(\.[\w-]+)*)*$/;

const file: JsonReader<string> = (value, path, problems) => {
  if (typeof value === 'string' && SAFE_PATH.test(value)) return value;
  problems.push({ path, message: 'should be a path inside the folder, of letters, digits, "_", "-", "." and "/"' });
  return undefined;
};

const indexReader = fields<CaptureIndex>({
  format: literal('tanren-capture'),
  version: literal(1),
  parts: list(
    fields<CapturedPart>({
      name: text(),
      model: digest,
      values: list(fields<CapturedValue>({ role: literal('input', 'output'), name: text(), dtype, dims, array: text() })),
    }),
  ),
  samples: list(
    fields<CapturedSample>({
      id: text(),
      source: text(),
      parts: record(fields<CapturedTensors>({ file, rows: integer(0), seen: integer(0) }), () => undefined),
    }),
  ),
});

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
