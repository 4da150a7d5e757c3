/** Names of the figures of COCO, in the order in which its tools print them, and of what they are measured on. */
import type { IouType, OverlapType } from './params.js';

export const COCO_FIGURE_NAMES = [
  'AP',
  'AP50',
  'AP75',
  'APsmall',
  'APmedium',
  'APlarge',
  'AR1',
  'AR10',
  'AR100',
  'ARsmall',
  'ARmedium',
  'ARlarge',
] as const;
export type CocoFigureName = (typeof COCO_FIGURE_NAMES)[number];

/** What the twelve figures are measured on. */
export const COCO_KINDS = ['bbox', 'segm', 'boundary'] as const satisfies readonly IouType[];

/** As in "mask AP". */
export const KIND_NAMES: Readonly<Record<OverlapType, string>> = { bbox: 'box', segm: 'mask', boundary: 'boundary', keypoints: 'keypoint' };

/** As in "figures of masks". */
export const KIND_PLURALS: Readonly<Record<OverlapType, string>> = {
  bbox: 'boxes',
  segm: 'masks',
  boundary: 'boundaries of masks',
  keypoints: 'keypoints',
};
