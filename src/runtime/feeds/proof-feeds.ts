/** Inputs for comparing a rewritten model with its original: given tensors, or seeded random ones. */
import { getValue } from '../../onnx/ir/edit.js';
import type { Model } from '../../onnx/ir/model.js';
import { listModelInputs, type NamedTensors } from '../session/model-inputs.js';
import { RuntimeError } from '../session/runtime-error.js';
import { openSession, type Session } from '../session/session.js';
import {
  type FeedOptions,
  hasFreeBatch,
  hasFreeLength,
  hasFreeSides,
  hasIntegers,
  type ImageSides,
  makeRandomFeeds,
} from './random-feeds.js';
import { listTensorSamples } from './tensor-samples.js';

export interface ProofFeeds {
  readonly samples: number;
  /** A file or folder for `listTensorSamples`, whose first samples are used; random inputs if absent. */
  readonly tensors: string | undefined;
  /** Uniform in [0, 1), per sample. */
  readonly random: (sample: number) => () => number;
  readonly sizes: Readonly<Record<string, number>>;
  readonly freeSize: number;
  /** A free first size of inputs. Default: `freeSize`. */
  readonly batch?: number | undefined;
  /** Height and width of images whose sizes are free. Default: `freeSize`. */
  readonly image?: ImageSides | undefined;
  /** Free sizes of signals after their first. Default: `freeSize`. */
  readonly length?: number | undefined;
  readonly integersBelow?: number | undefined;
}

/** Sizes that networks for images accept, if they do not accept any size. */
const IMAGES: readonly (ImageSides | undefined)[] = [undefined, [64, 96], [64, 64], [224, 224], [320, 320], [640, 640]];

/** Lengths of signals: a few frames of features, up to a second of sound. */
const LENGTHS: readonly (number | undefined)[] = [undefined, 64, 400, 1600, 16000];

/**
 * The feeds with sizes and integers with which `original` runs: a convolution or patch may be larger than `freeSize`, a skip connection may need multiples of it,
 * and integers may be indices into a small table. Feeds of tensors, of models without free sizes and without integers, and of models that run with none of them do not change.
 * @param original a file, or bytes. @throws RuntimeError `random-input`.
 */
export async function fitFreeSizes(model: Model, original: string | Uint8Array, feeds: ProofFeeds): Promise<ProofFeeds> {
  if (feeds.tensors !== undefined || feeds.samples === 0) return feeds;
  const choices = listChoices(model, feeds);
  if (choices.length === 0) return feeds;
  const session = await openSession(original, { optimization: 'disabled' });
  try {
    for (const choice of choices) {
      const sized = { ...feeds, ...choice };
      if (await runs(session, makeRandomFeeds(model, { ...sized, random: feeds.random(0) }))) return sized;
    }
    return feeds;
  } finally {
    await session.close();
  }
}

/** Integers may be indices: into ten entries of a table, or into two or one. */
const BELOW: readonly (number | undefined)[] = [undefined, 2, 1];

type Choice = Pick<FeedOptions, 'batch' | 'image' | 'length' | 'integersBelow'>;

/** With a batch of 1 last: a network may take one image alone, though its batch is free. Its other sizes stay, so that no axis hides behind a size of 1. */
function listChoices(model: Model, { sizes, freeSize }: Pick<ProofFeeds, 'sizes' | 'freeSize'>): readonly Choice[] {
  const isFree = hasFreeSides(model, sizes) ? 'images' : hasFreeLength(model, sizes) ? 'signals' : 'none';
  const isBatchFree = freeSize > 1 && hasFreeBatch(model, sizes);
  if (isFree === 'none' && !isBatchFree && !hasIntegers(model)) return [];
  const choices =
    isFree === 'images' ? IMAGES.map(image => ({ image })) : isFree === 'signals' ? LENGTHS.map(length => ({ length })) : [{}];
  const all = (hasIntegers(model) ? BELOW : [undefined]).flatMap(integersBelow => choices.map(choice => ({ ...choice, integersBelow })));
  return isBatchFree ? [...all, ...all.map(choice => ({ ...choice, batch: 1 }))] : all;
}

/** That a batch of 1 replaces the free size that was asked for; undefined if it does not. */
export function describeBatch({ batch, freeSize }: Pick<ProofFeeds, 'batch' | 'freeSize'>): string | undefined {
  if (batch === undefined || batch === freeSize) return undefined;
  return `the model runs on one sample alone: its free batch is ${batch} in the proof, not ${freeSize}`;
}

/** Sequences, maps and optional values cannot be fetched, and no stage takes them. */
function assertTensorOutputs({ graph }: Model): void {
  const other = graph.outputs.map(id => getValue(graph, id)).find(({ type }) => type?.kind === 'other');
  if (other === undefined) return;
  throw new RuntimeError('output-no-tensor', `output "${other.name}" is no tensor, but a sequence or another container`, {
    help: 'make its elements outputs of their own: return them one by one when you export, or `import` with `cut: {outputs: […]}`, which names tensors before it',
  });
}

async function runs(session: Session, inputs: NamedTensors): Promise<boolean> {
  try {
    await session.run(inputs);
    return true;
  } catch (error) {
    if (error instanceof RuntimeError && error.code === 'model-run') return false;
    throw error;
  }
}

/** Yields the samples; without any, nothing of the model or the tensors is checked. @throws RuntimeError `output-no-tensor`, `no-samples`, `sample-mismatch`, `random-input`. */
export async function* openProofFeeds(model: Model, feeds: ProofFeeds): AsyncGenerator<NamedTensors> {
  const { samples, tensors, random, sizes, freeSize, batch, image, length, integersBelow } = feeds;
  if (samples === 0) return;
  assertTensorOutputs(model);
  if (tensors === undefined) {
    for (let sample = 0; sample < samples; sample++)
      yield makeRandomFeeds(model, { random: random(sample), sizes, freeSize, batch, image, length, integersBelow });
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
