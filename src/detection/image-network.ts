/** A network that takes one image and has one output that is judged: classifiers and segmentation networks. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { JsonObject } from '../base/json.js';
import { getValue } from '../onnx/ir/edit.js';
import type { Model } from '../onnx/ir/model.js';
import { type Session, type SessionOptions, sessionManifest } from '../runtime/session/session.js';
import type { Tensor } from '../tensor/tensor.js';
import { makeImageFeeds, takeFirstOfBatch } from './data/image-feeds.js';
import { findImageInputs, type LogInputs, logInputs } from './data/image-inputs.js';
import type { ImageInputs } from './data/image-inputs-schema.js';
import { DetectionError } from './error/detection-error.js';
import { decodeImage } from './image/decode-image.js';
import { batchOf } from './image/image-form.js';
import type { Placement } from './image/placement.js';
import type { Preprocessing } from './image/preprocessing-schema.js';

/** What all images of a run share. */
export interface ImageNetworkSettings extends JsonObject {
  readonly optimization: SessionOptions['optimization'];
  /** All other session options that can change results. */
  readonly session: JsonObject;
  readonly inputs: ImageInputs;
  readonly output: string;
  readonly preprocess: Preprocessing & JsonObject;
}

export interface ImageNetworkParams {
  readonly optimization: SessionOptions['optimization'];
  readonly preprocess: Preprocessing;
  /** Default: the only output. */
  readonly output?: string | undefined;
}

/**
 * @param outputIs  what the output has, for errors: "a score per class".
 * @param log  takes what is assumed of the inputs.
 * @throws DetectionError `image-input`, `class-output`.
 */
export function makeImageNetworkSettings(
  model: Model,
  { preprocess, output, optimization }: ImageNetworkParams,
  outputIs: string,
  log: LogInputs,
): ImageNetworkSettings {
  const found = findImageInputs(model, preprocess);
  logInputs(found, log);
  return {
    optimization,
    session: sessionManifest({ optimization }),
    inputs: found.inputs,
    output: findOutput(model, output, outputIs),
    preprocess: preprocess as Preprocessing & JsonObject,
  };
}

/** The output for one image file, and where the image lies in the input. @throws as `decodeImage`, `preprocessImage` and `Session.run`. */
export async function runImageNetwork(
  session: Session,
  path: string,
  { inputs, output, preprocess }: ImageNetworkSettings,
): Promise<{ readonly output: Tensor | undefined; readonly placement: Placement }> {
  const { feeds, placement } = await readNetworkFeeds(path, inputs, preprocess);
  const outputs = await session.run(feeds, [output]);
  const given = outputs[output];
  return { output: given && takeFirstOfBatch(output, given, batchOf(inputs.image.form)), placement };
}

/** What the network is given for one image file. @throws as `decodeImage` and `makeImageFeeds`. */
export async function readNetworkFeeds(path: string, inputs: ImageInputs, preprocess: Preprocessing) {
  return makeImageFeeds(await decodeImage(await readFile(path), basename(path)), inputs, preprocess);
}

function findOutput({ graph }: Model, wanted: string | undefined, outputIs: string): string {
  const names = graph.outputs.map(id => getValue(graph, id).name);
  const found = wanted === undefined && names.length === 1 ? names[0] : names.find(name => name === wanted);
  if (found !== undefined) return found;
  throw new DetectionError(
    'class-output',
    wanted === undefined ? `the model has ${names.length} outputs` : `the model has no output "${wanted}"`,
    { help: `set \`output\` to the one with ${outputIs}: ${names.join(', ')}` },
  );
}
