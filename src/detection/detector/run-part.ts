/** Runs a part on any number of RoIs: in one run, in padded batches, or not at all where there are none. */
import { getDefined } from '../../base/invariant.js';
import { formatShape } from '../../tensor/shape.js';
import { makeTensor, type Tensor } from '../../tensor/tensor.js';
import { DetectionError } from '../error/detection-error.js';
import type { DetectorPart, DimsByName } from './detector-part.js';
import { getPartValue, type PartValuesByName, type RunPart } from './part-runner.js';

/**
 * Runs a part on any number of RoIs, including none. Where its batch is fixed, the last batch is padded with zeros, and the padded results are removed.
 * @throws DetectionError `part-values`, RuntimeError `model-run`.
 */
export async function runPart(run: RunPart, part: DetectorPart, inputs: PartValuesByName): Promise<PartValuesByName> {
  if (part.rois === 'none') return run(part.name, inputs);
  const count = countRois(part, inputs);
  if (count === 0) return makeNoRows(part.outputs);
  if (part.rois === 'free') return run(part.name, inputs);
  const size = part.rois;
  const batches: PartValuesByName[] = [];
  for (let start = 0; start < count; start += size) {
    const batch = Object.entries(inputs).map(([name, tensor]) => [name, takeBatch(tensor, start, size)]);
    batches.push(await run(part.name, Object.fromEntries(batch)));
  }
  return Object.fromEntries(part.values.outputs.map(name => [name, joinBatches(name, batches, count)]));
}

/** Number of RoIs in the inputs of a part; 1 for a part that runs once per image. */
export function countRois({ name, values, rois }: DetectorPart, inputs: PartValuesByName): number {
  if (rois === 'none') return 1;
  const first = getDefined(inputs[values.inputs[0] ?? ''], `an input of ${name}`);
  return getDefined(first.dims[0], 'the number of RoIs');
}

function makeNoRows(values: DimsByName): PartValuesByName {
  return Object.fromEntries(Object.entries(values).map(([name, dims]) => [name, makeTensor('float32', [0, ...dims], new Float32Array(0))]));
}

function takeBatch({ dims: [count = 0, ...rest], data }: Tensor<'float32'>, start: number, size: number): Tensor<'float32'> {
  const rowSize = data.length / count;
  const batch = new Float32Array(size * rowSize);
  batch.set(data.subarray(start * rowSize, (start + size) * rowSize));
  return makeTensor('float32', [size, ...rest], batch);
}

function joinBatches(name: string, batches: readonly PartValuesByName[], count: number): Tensor<'float32'> {
  const [batch = 0, ...rest] = batches[0]?.[name]?.dims ?? [];
  const rowSize = rest.reduce((product, dim) => product * dim, 1);
  const data = new Float32Array(count * rowSize);
  for (const [index, values] of batches.entries()) {
    const rows = getPartValue(values, name, [batch, ...rest]);
    const start = index * batch;
    if (start >= count)
      throw new DetectionError('part-values', `value "${name}" ${formatShape([batch, ...rest])} does not count RoIs in its first axis`);
    data.set(rows.subarray(0, Math.min(batch, count - start) * rowSize), start * rowSize);
  }
  return makeTensor('float32', [count, ...rest], data);
}
