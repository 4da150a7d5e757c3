/** Outlines of the masks of one image, as paths of SVG. */
import { outlineOf } from '../../../detection/coco/outline-path.js';
import type { Segmentation } from '../../../detection/coco/segmentation.js';
import type { ReadBytes } from './fetched-file.js';
import { type FetchedMasks, fetchMasks } from './mask-places.js';
import type { MaskedImage } from './match-results.js';
import type { ImageMasks } from './result-types.js';

/** The files of masks that have no content; undefined: they have it. */
export interface MaskFiles {
  readonly left: ReadBytes | undefined;
  readonly right: ReadBytes | undefined;
  readonly annotations: ReadBytes | undefined;
}

export interface Outlines {
  readonly masks: ImageMasks;
  /** Why masks of the image are missing. */
  readonly problem?: string;
}

/** @throws as `fetchMasks`. */
export async function outlineMasks({ image, ...masks }: MaskedImage, files?: MaskFiles): Promise<Outlines> {
  const outline = async (own: readonly (Segmentation | undefined)[], read: ReadBytes | undefined) => {
    const wanted = own.flatMap(mask => mask ?? []);
    const { contents, problem }: FetchedMasks = read === undefined ? { contents: new Map() } : await fetchMasks(wanted, read);
    const paths = own.map(mask => outlineOf(mask !== undefined && contents.has(mask) ? contents.get(mask) : mask, image));
    return { paths, problem };
  };
  const [left, right, truth] = await Promise.all([
    outline(masks.left, files?.left),
    outline(masks.right, files?.right),
    outline(masks.truth, files?.annotations),
  ]);
  const problem = left.problem ?? right.problem ?? truth.problem;
  return { masks: { left: left.paths, right: right.paths, truth: truth.paths }, ...(problem === undefined ? {} : { problem }) };
}
