/** How is a model run on tensors that were captured? On the samples that have rows of its part. */
import { DetectionError } from '../../src/detection/detection-error.js';
import type { PartValuesByName } from '../../src/detection/torchvision/part-runner.js';
import { type CapturedSample, getCapturedPart } from '../../src/runtime/capture-index.js';
import type { Captured } from '../../src/runtime/captured.js';
import type { NamedTensors } from '../../src/runtime/model-inputs.js';
import type { Session } from '../../src/runtime/session.js';
import { StageError } from '../../src/stage/stage-error.js';

/**
 * The first `count` captured samples, of them those with rows of the part.
 * @throws RuntimeError `capture-part`; StageError `too-few-samples`, `no-rois` where none has a row.
 */
export function takeCaptured({ index }: Captured, part: string, count: number): readonly CapturedSample[] {
  getCapturedPart(index, part);
  if (count > index.samples.length) {
    throw new StageError('too-few-samples', `${count} samples are asked for, ${index.samples.length} were captured`, {
      help: `set samples to at most ${index.samples.length}, or capture more`,
    });
  }
  const samples = index.samples.slice(0, count).filter(sample => (sample.parts[part]?.rows ?? 0) > 0);
  if (samples.length > 0) return samples;
  throw new StageError('no-rois', `none of the first ${count} captured samples has a row of part "${part}": nothing to compare`, {
    help: 'take more samples, or capture images with objects',
  });
}

/** @throws DetectionError `part-values` where the model takes other inputs; RuntimeError `model-run`. */
export async function runOnFeeds(session: Session, feeds: NamedTensors): Promise<NamedTensors> {
  const missing = session.inputNames.filter(name => !Object.hasOwn(feeds, name));
  if (missing.length === 0) return session.run(feeds);
  throw new DetectionError(
    'part-values',
    `the model takes ${session.inputNames.join(', ')}; there are tensors for ${Object.keys(feeds).join(', ')}`,
    { help: 'connect the model that the tensors belong to' },
  );
}

/** Floats are compared; other dtypes are not. */
export function toFloats(values: NamedTensors): PartValuesByName {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, tensor]) => (tensor.dtype === 'float32' ? [[name, tensor] as const] : [])),
  );
}
