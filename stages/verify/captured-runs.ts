/** Runs a model on captured samples that have rows of its part. */

import type { PartValuesByName } from '../../src/detection/detector/part-runner.js';
import { DetectionError } from '../../src/detection/error/detection-error.js';
import { readModel } from '../../src/onnx/serde/model-file.js';
import { type CapturedSample, getCapturedPart } from '../../src/runtime/capture/capture-index.js';
import type { Captured } from '../../src/runtime/capture/captured.js';
import { checkFinite, listModelInputs, type NamedTensors } from '../../src/runtime/session/model-inputs.js';
import type { Session } from '../../src/runtime/session/session.js';
import { StageError } from '../../src/stage/stage-error.js';
import { joinRows, sliceRows } from '../../src/tensor/rows.js';

/**
 * Those of the first `count` captured samples that have rows of the part.
 * @throws RuntimeError `capture-part`; StageError `too-few-samples`, `no-rois` if none has a row.
 */
export function takeCaptured({ index }: Captured, part: string, count: number): readonly CapturedSample[] {
  getCapturedPart(index, part);
  if (count > index.samples.length) {
    throw new StageError('too-few-samples', `samples is ${count}, but only ${index.samples.length} were captured`, {
      help: `set samples to at most ${index.samples.length}, or capture more`,
    });
  }
  const samples = index.samples.slice(0, count).filter(sample => (sample.parts[part]?.rows ?? 0) > 0);
  if (samples.length > 0) return samples;
  throw new StageError('no-rois', `none of the first ${count} captured samples has a row of part "${part}": nothing to compare`, {
    help: 'use more samples, or capture images with objects',
  });
}

/** The first size of all inputs, if the model fixes it. */
export async function readFixedBatch(path: string): Promise<number | undefined> {
  const sizes = listModelInputs(await readModel(path)).map(({ dims }) => dims?.[0]);
  const [batch] = sizes;
  return typeof batch === 'number' && batch > 0 && sizes.every(size => size === batch) ? batch : undefined;
}

/**
 * Runs the model on all rows of `feeds`: at once, or in batches of its fixed size. The last batch is padded with zeros, and their results are removed.
 * @throws DetectionError `part-values` if the model has other inputs; RuntimeError `not-finite`, `model-run`.
 */
export async function runOnFeeds(session: Session, feeds: NamedTensors, batch: number | undefined): Promise<NamedTensors> {
  const missing = session.inputNames.filter(name => !Object.hasOwn(feeds, name));
  checkFinite(feeds);
  if (missing.length === 0) return batch === undefined ? session.run(feeds) : runInBatches(session, feeds, batch);
  throw new DetectionError(
    'part-values',
    `the model has the inputs ${session.inputNames.join(', ')}, but there are tensors for ${Object.keys(feeds).join(', ')}`,
    { help: 'connect the model to which the tensors belong' },
  );
}

async function runInBatches(session: Session, feeds: NamedTensors, batch: number): Promise<NamedTensors> {
  const rows = Object.values(feeds)[0]?.dims[0] ?? batch;
  if (rows === batch) return session.run(feeds);
  const results: NamedTensors[] = [];
  for (let start = 0; start < rows; start += batch) {
    const slices = Object.entries(feeds).map(([name, tensor]) => [name, sliceRows(tensor, start, batch)] as const);
    results.push(await session.run(Object.fromEntries(slices)));
  }
  const join = (name: string) =>
    joinRows(
      results.flatMap(values => values[name] ?? []),
      rows,
    );
  return Object.fromEntries(session.outputNames.map(name => [name, join(name)]));
}

/** Only float values are compared. */
export function toFloats(values: NamedTensors): PartValuesByName {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, tensor]) => (tensor.dtype === 'float32' ? [[name, tensor] as const] : [])),
  );
}
