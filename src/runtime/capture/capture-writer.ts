/** Writes captured tensors: one npz file per sample and part, and the index at the end. Only one sample is in memory at a time. */
import { constants } from 'node:fs';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Digest } from '../../base/digest.js';
import { getDefined } from '../../base/invariant.js';
import { integer, list, object } from '../../base/schema/build-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';
import type { Tensor } from '../../tensor/tensor.js';
import type { NamedTensors } from '../session/model-inputs.js';
import { RuntimeError } from '../session/runtime-error.js';
import {
  CAPTURED_VALUE_SCHEMA,
  type CapturedDim,
  type CapturedPart,
  type CapturedSample,
  type CapturedTensors,
  type CapturedValue,
  type CaptureIndex,
  INDEX_FILE,
} from './capture-index.js';

export const SAMPLE_TENSORS_SCHEMA = object({
  rows: integer(0),
  seen: integer(0),
  /** Dims are numbers. */
  values: list(CAPTURED_VALUE_SCHEMA),
});

/** The content of one sample's npz file for a part. */
export type SampleTensors = FromSchema<typeof SAMPLE_TENSORS_SCHEMA>;

/** Array names and tensors of a sample: inputs, then outputs, each in the given order. */
export function nameArrays(inputs: NamedTensors, outputs: NamedTensors): ReadonlyMap<string, Tensor> {
  const pairs = (role: CapturedValue['role'], tensors: NamedTensors) =>
    Object.entries(tensors).map(([name, tensor]) => [arrayName(role, name), tensor] as const);
  return new Map([...pairs('input', inputs), ...pairs('output', outputs)]);
}

export function describeTensors(inputs: NamedTensors, outputs: NamedTensors): CapturedValue[] {
  const values = (role: CapturedValue['role'], tensors: NamedTensors) =>
    Object.entries(tensors).map(([name, { dtype, dims }]) => ({ role, name, dtype, dims, array: arrayName(role, name) }));
  return [...values('input', inputs), ...values('output', outputs)];
}

/** For example `input:image`. Characters that are not allowed in archive paths are percent-encoded. */
function arrayName(role: CapturedValue['role'], name: string): string {
  const safe = name.replace(/[%\\\0]|\.\.(?=\/|$)/g, found =>
    [...found].map(one => `%${one.charCodeAt(0).toString(16).padStart(2, '0')}`).join(''),
  );
  return `${role}:${safe}`;
}

export interface WrittenPart {
  readonly name: string;
  readonly model: Digest;
  /** 'rows': the first axis of every value counts RoIs, even if all samples have the same number. 'any': sizes follow from the samples. */
  readonly firstAxis: 'rows' | 'any';
}

export interface CaptureWriter {
  /** Adds a sample: per part the content of its file, and the path of the npz file, which is copied. */
  add(
    sample: Pick<CapturedSample, 'id' | 'source'>,
    parts: Readonly<Record<string, SampleTensors & { readonly path: string }>>,
  ): Promise<void>;
  /** Writes the index. */
  finish(): Promise<void>;
}

/** Creates a folder of captured tensors at `folder`, which must not exist. */
export async function openCaptureWriter(folder: string, parts: readonly WrittenPart[]): Promise<CaptureWriter> {
  await mkdir(folder);
  for (const { name } of parts) await mkdir(join(folder, name));
  const samples: CapturedSample[] = [];
  const values = new Map<string, readonly CapturedValue[]>();
  return {
    async add(sample, tensors) {
      const written: Record<string, CapturedTensors> = {};
      for (const part of parts) {
        const { path, rows, seen, values: own } = getDefined(tensors[part.name], `part ${part.name}`);
        const file = `${part.name}/${String(samples.length).padStart(6, '0')}.npz`;
        await copyFile(path, join(folder, file), constants.COPYFILE_FICLONE);
        written[part.name] = { file, rows, seen };
        const described = own.map(value => ({ ...value, dims: withRows(value.dims, rows, part.firstAxis) }));
        const before = values.get(part.name);
        const counts = { rows, before: samples.map(one => one.parts[part.name]?.rows ?? 0) };
        values.set(part.name, before === undefined ? described : mergeValues(before, described, counts));
      }
      samples.push({ id: sample.id, source: sample.source, parts: written });
    },
    async finish() {
      const described: CapturedPart[] = parts.map(({ name, model }) => ({ name, model, values: values.get(name) ?? [] }));
      const index: CaptureIndex = { format: 'tanren-capture', version: 1, parts: described, samples };
      await writeFile(join(folder, INDEX_FILE), `${JSON.stringify(index, undefined, 1)}\n`);
    },
  };
}

function withRows(dims: readonly CapturedDim[], rows: number, firstAxis: WrittenPart['firstAxis']): readonly CapturedDim[] {
  return firstAxis === 'rows' && dims[0] === rows ? ['rows', ...dims.slice(1)] : dims;
}

interface OwnRows {
  readonly rows: number;
  /** Rows of the earlier samples. */
  readonly before: readonly number[];
}

/** A size that differs between samples becomes 'rows' if it is each sample's row count (first axis only), otherwise 'free'. */
function mergeValues(before: readonly CapturedValue[], own: readonly CapturedValue[], counts: OwnRows): readonly CapturedValue[] {
  return before.map((value, index) => {
    const found = getDefined(own[index], `value "${value.name}" of every sample`);
    if (found.dims.length !== value.dims.length)
      throw new RuntimeError(
        'capture-mismatch',
        `value "${value.name}" has rank ${value.dims.length} in one sample and ${found.dims.length} in another`,
      );
    return { ...value, dims: value.dims.map((dim, axis) => mergeDim(dim, found.dims[axis] ?? 'free', axis, counts)) };
  });
}

function mergeDim(dim: CapturedDim, other: CapturedDim, axis: number, { rows, before }: OwnRows): CapturedDim {
  if (dim === other) return dim;
  const wasRows = dim === 'rows' || before.every(one => one === dim);
  return axis === 0 && wasRows && (other === rows || other === 'rows') ? 'rows' : 'free';
}
