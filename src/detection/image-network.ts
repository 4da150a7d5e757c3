/** A network that takes one image and has one output that is judged: classifiers and segmentation networks. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { JsonObject } from '../base/json.js';
import { getValue } from '../onnx/ir/edit.js';
import type { Model } from '../onnx/ir/model.js';
import { listModelInputs } from '../runtime/session/model-inputs.js';
import { type Session, type SessionOptions, sessionManifest } from '../runtime/session/session.js';
import type { Tensor } from '../tensor/tensor.js';
import { readImageInput } from './data/image-samples.js';
import { DetectionError } from './error/detection-error.js';
import { decodeImage } from './image/decode-image.js';
import type { Placement } from './image/placement.js';
import { preprocessImage } from './image/preprocessing.js';
import type { Preprocessing } from './image/preprocessing-schema.js';

/** What all images of a run share. */
export interface ImageNetworkSettings extends JsonObject {
  readonly optimization: SessionOptions['optimization'];
  /** All other session options that can change results. */
  readonly session: JsonObject;
  readonly input: { readonly name: string; readonly height: number | null; readonly width: number | null };
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
 * @throws DetectionError `image-input`, `class-output`.
 */
export function makeImageNetworkSettings(
  model: Model,
  { preprocess, output, optimization }: ImageNetworkParams,
  outputIs: string,
): ImageNetworkSettings {
  const { name, size } = readImageInput(listModelInputs(model));
  return {
    optimization,
    session: sessionManifest({ optimization }),
    input: { name, height: size.height ?? null, width: size.width ?? null },
    output: findOutput(model, output, outputIs),
    preprocess: preprocess as Preprocessing & JsonObject,
  };
}

/** The output for one image file, and where the image lies in the input. @throws as `decodeImage`, `preprocessImage` and `Session.run`. */
export async function runImageNetwork(
  session: Session,
  path: string,
  { input, output, preprocess }: ImageNetworkSettings,
): Promise<{ readonly output: Tensor | undefined; readonly placement: Placement }> {
  const { tensor, placement } = await readNetworkInput(path, input, preprocess);
  const outputs = await session.run({ [input.name]: tensor }, [output]);
  return { output: outputs[output], placement };
}

/** What the network is given for one image file. @param size of its input; null where it takes any. @throws as `decodeImage` and `preprocessImage`. */
export async function readNetworkInput(
  path: string,
  { height, width }: Pick<ImageNetworkSettings['input'], 'height' | 'width'>,
  preprocess: Preprocessing,
) {
  const image = await decodeImage(await readFile(path), basename(path));
  return preprocessImage(image, { height: height ?? undefined, width: width ?? undefined }, preprocess);
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
