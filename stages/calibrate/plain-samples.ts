/** Calibration samples for a model that is not part of a detector: preprocessed images, or tensor files. */
import { join } from 'node:path';
import type { DataSource } from '../../src/detection/data/data-source.js';
import { openModelSamples } from '../../src/detection/data/data-source.js';
import type { Model } from '../../src/onnx/ir/model.js';
import type { ModelSample } from '../../src/runtime/feeds/model-sample.js';
import { listModelInputs } from '../../src/runtime/session/model-inputs.js';
import { makeTurns } from '../../src/stage/in-turn.js';
import { writeNpz } from '../../src/tensor/formats/npz.js';
import type { CalibrationSamples, SampleInput } from './calibration-sample.js';
import type { CalibrateParams } from './params.js';

/** Writes each sample's tensors into `scratch`, where a second pass finds them. @throws as `openModelSamples`. */
export async function openPlainSamples(
  source: DataSource,
  model: Model,
  { preprocess, samples: count }: CalibrateParams,
  scratch: string,
): Promise<CalibrationSamples> {
  const samples = await openModelSamples(source, { inputs: listModelInputs(model), preprocess, samples: count });
  const inTurn = makeTurns();
  return {
    part: 'model',
    samples: samples.map((sample, index) => ({
      id: sample.id,
      source: sample.source,
      label: `${source.kind === 'images' ? 'image' : 'sample'} ${sample.id}${sample.id === sample.source ? '' : ` (${sample.source})`}`,
      find: () => inTurn(() => writeSample(sample, join(scratch, `sample-${index}.npz`))),
    })),
  };
}

async function writeSample(sample: ModelSample, path: string): Promise<SampleInput> {
  const tensors = Object.values(await sample.read());
  if (tensors.some(tensor => tensor.data.length === 0)) return { kind: 'left-out', reason: 'one of its tensors has no elements' };
  const arrays = tensors.map((_, index) => `${index}`);
  await writeNpz(path, new Map(tensors.map((tensor, index) => [`${index}`, tensor])));
  return { kind: 'input', file: { path, feeds: { arrays, rows: null } }, rows: tensors[0]?.dims[0] ?? 1 };
}
