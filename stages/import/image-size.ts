/** Names a size of images at which a model runs, where the size that `import` was given keeps it from running. */

import { join } from 'node:path';
import { cloneModel } from '../../src/onnx/ir/clone.js';
import type { Model } from '../../src/onnx/ir/model.js';
import { writeModel } from '../../src/onnx/serde/model-file.js';
import { type PinnedDim, type Pins, pinShapes } from '../../src/onnx/surgery/pin-shapes.js';
import { findImageSize } from '../../src/runtime/feeds/image-sizes.js';
import type { ImageSides } from '../../src/runtime/feeds/random-feeds.js';
import { RuntimeError } from '../../src/runtime/session/runtime-error.js';
import { StageError } from '../../src/stage/stage-error.js';

interface FreeImage {
  readonly name: string;
  /** As `pins` have it. */
  readonly size: ImageSides;
  /** The whole shape, of which the last two dims are the size. */
  readonly dims: readonly PinnedDim[];
}

/**
 * Throws if `original`, whose image has free sides, runs at another size than that of `pins`: then the size is the reason why it does not run.
 * @param reason why it does not run at the size of `pins`. @param folder for a copy of the model.
 * @throws StageError `image-size` with a size at which it runs.
 */
export async function assertSizeFits(original: Model, pins: Pins, reason: string, folder: string): Promise<void> {
  const image = findFreeImage(original, pins);
  if (image === undefined) return;
  const { name, size, dims } = image;
  const source = join(folder, 'sizes.onnx');
  await writeModel(source, original, { externalData: { file: 'sizes.onnx.data', thresholdBytes: OUTSIDE_BYTES } });
  const found = await findSize(original, source, size);
  if (found === undefined || isEqual(found, size)) return;
  throw new StageError('image-size', `the model does not run on images of ${size.join('×')}: ${reason}`, {
    help: `it runs on images of ${found.join('×')}: shapes: {${JSON.stringify(name)}: [${[...dims.slice(0, -2), ...found].join(', ')}]}`,
  });
}

/** Smaller constants, such as shapes, have to be in the model. */
const OUTSIDE_BYTES = 4096;

async function findSize(original: Model, source: string, size: ImageSides): Promise<ImageSides | undefined> {
  try {
    const found = await findImageSize(original, source, { first: [size], others: 'squares' });
    return found.kind === 'found' ? found.size : undefined;
  } catch (error) {
    if (error instanceof RuntimeError && (error.code === 'model-load' || error.code === 'random-input')) return undefined;
    throw error;
  }
}

function isEqual(a: ImageSides, b: ImageSides): boolean {
  return a[0] === b[0] && a[1] === b[1];
}

/** The only input of floats and rank 4 with free sides, and with sizes for both in `pins`. */
function findFreeImage(original: Model, pins: Pins): FreeImage | undefined {
  const pinned = cloneModel(original);
  pinShapes(pinned, pins);
  const images = original.graph.inputs.flatMap(id => {
    const [before, after] = [original, pinned].map(({ graph }) => {
      const value = graph.values.get(id);
      return value?.constant === undefined && value?.type?.kind === 'tensor' ? value.type.dims : undefined;
    });
    if (before?.length !== 4 || !before.slice(2).some(dim => typeof dim !== 'number')) return [];
    const [height, width] = after?.slice(2) ?? [];
    if (typeof height !== 'number' || typeof width !== 'number') return [];
    const dims = (after ?? []).map((dim): PinnedDim => (typeof dim === 'number' ? dim : 'free'));
    return [{ name: original.graph.values.get(id)?.name ?? '', size: [height, width] as const, dims }];
  });
  return images.length === 1 ? images[0] : undefined;
}
