/** Calibration samples for a model that is not part of a detector: preprocessed images, or tensor files. */
import type { DataSource } from '../../src/detection/data/data-source.js';
import { openModelSamples } from '../../src/detection/data/data-source.js';
import type { LogInputs } from '../../src/detection/data/image-inputs.js';
import type { PreparingModel } from '../../src/detection/data/preparing-model.js';
import type { Model } from '../../src/onnx/ir/model.js';
import type { ModelSample } from '../../src/runtime/feeds/model-sample.js';
import { type BoundedFile, makeBoundedFiles } from '../../src/stage/bounded-files.js';
import { writeNpz } from '../../src/tensor/formats/npz.js';
import type { Shape } from '../../src/tensor/shape.js';
import type { CalibrationSamples, SampleInput } from './calibration-sample.js';
import type { CalibrateParams } from './params.js';

interface PlainOptions {
  readonly prepare: PreparingModel | undefined;
  readonly scratch: string;
  readonly log: LogInputs;
}

/** Writes each sample's tensors into `scratch`, whenever it is found. @throws as `openModelSamples`. */
export async function openPlainSamples(
  source: DataSource,
  model: Model,
  { preprocess, samples: count }: CalibrateParams,
  { prepare, scratch, log }: PlainOptions,
): Promise<CalibrationSamples> {
  const samples = await openModelSamples(source, { model, preprocess, samples: count, prepare, log });
  const files = makeBoundedFiles(scratch);
  return {
    part: 'model',
    samples: samples.map((sample, index) => ({
      id: sample.id,
      source: sample.source,
      label: `${source.kind === 'images' ? 'image' : 'sample'} ${sample.id}${sample.id === sample.source ? '' : ` (${sample.source})`}`,
      find: async () => inputOf(await files.write(`sample-${index}.npz`, path => writeSample(sample, path))),
    })),
  };
}

/** @returns the shapes of the arrays "0", "1", … */
async function writeSample(sample: ModelSample, path: string): Promise<readonly Shape[]> {
  const tensors = Object.values(await sample.read());
  await writeNpz(path, new Map(tensors.map((tensor, index) => [`${index}`, tensor])));
  return tensors.map(({ dims }) => dims);
}

async function inputOf({ path, content: shapes, remove }: BoundedFile<readonly Shape[]>): Promise<SampleInput> {
  if (shapes.some(shape => shape.includes(0))) {
    await remove();
    return { kind: 'left-out', reason: 'one of its tensors has no elements' };
  }
  const arrays = shapes.map((_, index) => `${index}`);
  return { kind: 'input', file: { path, feeds: { arrays, rows: null } }, rows: shapes[0]?.[0] ?? 1, remove };
}
