/** Outlines of the masks of one image, as paths of SVG. */
import { outlineOf } from '../../../detection/coco/outline-path.js';
import type { Segmentation } from '../../../detection/coco/segmentation.js';
import { fetchMasks, type ReadBytes } from './mask-places.js';
import type { MaskedImage } from './match-results.js';
import type { ImageMasks } from './result-types.js';

/** The files of masks that have no content; undefined: they have it. */
export interface MaskFiles {
  readonly left: ReadBytes | undefined;
  readonly right: ReadBytes | undefined;
  readonly annotations: ReadBytes | undefined;
}

/** @throws as `fetchMasks`. */
export async function outlineMasks({ image, ...masks }: MaskedImage, files?: MaskFiles): Promise<ImageMasks> {
  const outline = async (own: readonly (Segmentation | undefined)[], read: ReadBytes | undefined) => {
    const contents =
      read === undefined
        ? undefined
        : await fetchMasks(
            own.flatMap(mask => mask ?? []),
            read,
          );
    return own.map(mask => outlineOf(mask === undefined ? undefined : (contents?.get(mask) ?? mask), image));
  };
  const [left, right, truth] = await Promise.all([
    outline(masks.left, files?.left),
    outline(masks.right, files?.right),
    outline(masks.truth, files?.annotations),
  ]);
  return { left, right, truth };
}
