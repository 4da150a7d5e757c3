/** A model that makes the inputs of a network from those of an image, such as the part `prepare` of a whole detector. */
import type { Model } from '../../onnx/ir/model.js';
import { readModel } from '../../onnx/serde/model-file.js';
import type { ModelSample } from '../../runtime/feeds/model-sample.js';
import { listModelInputs, pickFeeds } from '../../runtime/session/model-inputs.js';
import { openSession, type Session } from '../../runtime/session/session.js';

import { DetectionError } from '../error/detection-error.js';

export interface PreparingModel {
  readonly model: Model;
  readonly session: Session;
}

/** Opens the model at `path`, if there is one, and closes it after use. @throws OnnxError; RuntimeError `model-load`. */
export async function withPreparingModel<T>(
  path: string | undefined,
  use: (prepare: PreparingModel | undefined) => Promise<T>,
): Promise<T> {
  if (path === undefined) return use(undefined);
  const session = await openSession(path, { optimization: 'all', memoryArena: 'none' });
  try {
    return await use({ model: await readModel(path), session });
  } finally {
    await session.close();
  }
}

/**
 * Samples of `network`: what the preparing model gives for each of `samples`, and what `samples` have for the network itself.
 * @throws DetectionError `image-input` if the network takes nothing of what the preparing model gives. While reading a sample: @throws RuntimeError `sample-mismatch` if neither gives an input of the network, or one of another shape.
 */
export function makePreparedSamples(
  samples: readonly ModelSample[],
  { model, session }: PreparingModel,
  network: Model,
): readonly ModelSample[] {
  const [own, wanted] = [listModelInputs(model), listModelInputs(network)];
  const names = wanted.map(({ name }) => name);
  if (!session.outputNames.some(name => names.includes(name)))
    throw new DetectionError(
      'image-input',
      `\`prepare\` gives ${session.outputNames.join(', ')}, and the network takes ${names.join(', ')}: none of them`,
      { help: 'connect the part `prepare` of the model that the network was cut from' },
    );
  return samples.map(sample => ({
    ...sample,
    async read() {
      const given = await sample.read();
      const prepared = await session.run(pickFeeds(own, given, sample.source));
      return pickFeeds(wanted, { ...given, ...prepared }, `what \`prepare\` gives for ${sample.source}`);
    },
  }));
}
