/** Inputs for comparing a rewritten model with its original: given tensors, or seeded random ones. */
import type { Model } from '../../onnx/ir/model.js';
import { listModelInputs, type NamedTensors } from '../session/model-inputs.js';
import { RuntimeError } from '../session/runtime-error.js';
import { makeRandomFeeds } from './random-feeds.js';
import { listTensorSamples } from './tensor-samples.js';

export interface ProofFeeds {
  readonly samples: number;
  /** A file or folder for `listTensorSamples`, whose first samples are used; random inputs if absent. */
  readonly tensors: string | undefined;
  /** Uniform in [0, 1), per sample. */
  readonly random: (sample: number) => () => number;
  readonly sizes: Readonly<Record<string, number>>;
  readonly freeSize: number;
}

/** Yields the samples. @throws RuntimeError `no-samples`, `sample-mismatch`, `random-input`. */
export async function* openProofFeeds(model: Model, feeds: ProofFeeds): AsyncGenerator<NamedTensors> {
  const { samples, tensors, random, sizes, freeSize } = feeds;
  if (tensors === undefined) {
    for (let sample = 0; sample < samples; sample++) yield makeRandomFeeds(model, { random: random(sample), sizes, freeSize });
    return;
  }
  const found = await listTensorSamples(tensors, listModelInputs(model));
  for (const sample of found.slice(0, samples)) yield await sample.read();
}

/**
 * Runs `prove`. If a model fails on random inputs (for example because its inputs are indices), the error says so and has `help`.
 * @throws what `prove` throws.
 */
export async function explainRandomFailure<T>(feeds: Pick<ProofFeeds, 'tensors'>, help: string, prove: () => Promise<T>): Promise<T> {
  try {
    return await prove();
  } catch (error) {
    if (feeds.tensors !== undefined || !(error instanceof RuntimeError)) throw error;
    if (error.code !== 'model-run' && error.code !== 'random-input') throw error;
    throw new RuntimeError(error.code, `${error.message}; the inputs were random`, { cause: error, help });
  }
}
