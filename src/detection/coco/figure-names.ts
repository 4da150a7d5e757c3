/** Names of the figures of COCO, in the order in which its tools print them. */

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
