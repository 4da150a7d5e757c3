/** The size of images for a model that leaves heights and widths free: given, or one at which the model runs. */

import type { ImageForm } from '../../../../detection/image/image-form.js';
import { EngineError } from '../../../../engine/model/engine-error.js';
import type { Model } from '../../../../onnx/ir/model.js';
import { findImageSize, type ImageSize } from '../../../../runtime/feeds/image-sizes.js';
import { RuntimeError } from '../../../../runtime/session/runtime-error.js';
import { countClasses, type Port } from './model-ports.js';

export interface ModelImage {
  readonly name: string;
  /** A number: so many images at once; 'some': a free batch, or 1. */
  readonly batch: 'some' | 'none' | number;
  /** Channels last: [N, height, width, channels]. */
  readonly layout: ImageForm['layout'];
  readonly channels: ImageForm['channels'];
  readonly dtype: ImageForm['dtype'];
  readonly height: number;
  readonly width: number;
  /** Whether the file leaves the height or the width free; then both are those that were given, or at which the model runs. */
  readonly size: 'fixed' | 'free';
}

export interface GivenSize {
  readonly height: number;
  readonly width: number;
}

/** The image as the file has it; a free size is undefined. */
export interface FoundImage extends Pick<ModelImage, 'name' | 'batch' | 'layout' | 'channels' | 'dtype'> {
  readonly height: number | undefined;
  readonly width: number | undefined;
}

export interface SizedModel {
  readonly path: string;
  readonly model: Model;
  readonly given: GivenSize | undefined;
  /** Whether sizes of outputs depend on what is found. */
  readonly isWholeDetector: boolean;
}

export interface ChosenSize {
  readonly image: ModelImage;
  /** Dims of outputs that the file does not fix, as a run had them. */
  readonly dims: ReadonlyMap<string, readonly number[]>;
}

const CLASSIFIER_SIDE = 224;
const OTHER_SIDE = 640;

/** @throws EngineError `image-size`. */
export async function chooseSize(sized: SizedModel, found: FoundImage, outputs: readonly Port[]): Promise<ChosenSize> {
  assertFree(found, sized.given);
  const { name, batch, layout, channels, dtype } = found;
  const usual = countClasses({ outputs }) === undefined ? OTHER_SIDE : CLASSIFIER_SIDE;
  const [height, width] = [found.height ?? sized.given?.height ?? usual, found.width ?? sized.given?.width ?? usual];
  const size = found.height === undefined || found.width === undefined ? 'free' : 'fixed';
  const open = sized.isWholeDetector ? [] : outputs.filter(({ dims }) => dims?.slice(1).every(dim => typeof dim === 'number') !== true);
  const image = { name, batch, layout, channels, dtype, height, width, size } as const;
  if (size === 'fixed' && open.length === 0) return { image, dims: new Map() };
  const ran = await tryRun(sized, image);
  if (ran === undefined) return { image, dims: new Map() };
  return {
    image: { ...image, height: ran.size[0], width: ran.size[1] },
    dims: new Map([...ran.outputs].filter(([output]) => open.some(one => one.name === output))),
  };
}

/** Undefined if ONNX Runtime cannot load the model, or not run it at the size of the file: the stages say why. */
async function tryRun({ path, model, given }: SizedModel, { name, height, width, size }: ModelImage): Promise<ImageSize | undefined> {
  const others = size === 'free' && given === undefined ? 'squares' : 'none';
  try {
    const found = await findImageSize(model, path, { first: [[height, width]], others });
    if (found.kind === 'found') return found;
    if (size === 'fixed') return undefined;
    const where = others === 'none' ? `${height}×${width}` : `any of ${found.tried.length} usual sizes`;
    throw new EngineError(
      'image-size',
      `input "${name}" leaves height and width free, and the model does not run at ${where}: ${found.reason}`,
      {
        help: 'give the size that the network was trained with: --size HEIGHTxWIDTH',
      },
    );
  } catch (error) {
    if (error instanceof RuntimeError && (error.code === 'model-load' || error.code === 'random-input')) return undefined;
    throw error;
  }
}

function assertFree({ name, height, width }: FoundImage, given: GivenSize | undefined): void {
  if (given === undefined) return;
  if ((height ?? given.height) === given.height && (width ?? given.width) === given.width) return;
  throw new EngineError(
    'image-size',
    `input "${name}" is ${height ?? 'free'}×${width ?? 'free'} in the file, not ${given.height}×${given.width}`,
    {
      help: 'leave out --size, or export the model again with that size',
    },
  );
}
