/** What is odd in a COCO file and is computed all the same: counted by kind, for one warning each. */
import type { Place } from './reading.js';

/** Reports one odd place of a file. */
export type NoteOddity = (kind: OddityKind, place: Place, detail?: string) => void;

/** Per kind, how many of what there are, and what follows. */
const ODDITIES = {
  'image-repeated': ['image', 'images', 'with the id of a later image, which counts instead'],
  'file-name-unusable': ['image', 'images', 'with a file_name that cannot be used; nothing that reads its file works'],
  'image-unsized': ['image', 'images', 'without a valid width and height; no polygon can be drawn there'],
  'category-repeated': ['category', 'categories', 'with the id of a later category, which counts instead'],
  'category-unnamed': ['category', 'categories', 'without a name; the id is the name'],
  'annotations-missing': ['file', 'files', 'without a list of annotations'],
  'annotation-of-unknown-image': ['annotation', 'annotations', 'of an image that the file does not have, ignored'],
  'annotation-of-unknown-category': ['annotation', 'annotations', 'of a category that the file does not have, ignored'],
  'annotation-repeated': ['annotation', 'annotations', 'with the id of a later annotation, which counts instead, as in pycocotools'],
  'crowd-without-area': ['crowd', 'crowds', 'without an area; it belongs to every size'],
  'ignored-without-area': ['object', 'objects', 'without an area, which figures of keypoints do not count; others cannot use it'],
  'crowd-value': ['annotation', 'annotations', 'with an iscrowd other than 0 and 1, taken as pycocotools does'],
  'keypoints-invalid': [
    'annotation or result',
    'annotations and results',
    'with an error in its keypoints; figures of keypoints cannot use it',
  ],
  'box-invalid': ['bbox', 'bboxes', 'without four numbers; figures of boxes cannot use it'],
  'not-finite': ['value', 'values', 'of NaN or infinity; a score of NaN ranks last'],
  'mask-of-other-size': ['mask', 'masks', 'with another size than the image; it overlaps only masks of equal size'],
  'mask-invalid': ['segmentation', 'segmentations', 'with an error; figures of masks cannot use it'],
  'polygon-odd': ['polygon', 'polygons', 'with an odd number of coordinates; the last one is dropped'],
} as const satisfies Readonly<Record<string, readonly [one: string, many: string, text: string]>>;

export type OddityKind = keyof typeof ODDITIES;

export interface OddityCounter {
  readonly note: NoteOddity;
  /** One text per kind with its count and its first place. */
  list(): readonly string[];
}

export function countOddities(): OddityCounter {
  const counts = new Map<OddityKind, { count: number; readonly first: string }>();
  return {
    note(kind, place, detail) {
      const counted = counts.get(kind);
      if (counted === undefined) counts.set(kind, { count: 1, first: detail === undefined ? place : `${place}: ${detail}` });
      else counted.count++;
    },
    list() {
      return [...counts].map(([kind, { count, first }]) => {
        const [one, many, text] = ODDITIES[kind];
        return `${count.toLocaleString('en-US')} ${count === 1 ? one : many} ${text} (${count === 1 ? '' : 'first: '}${first})`;
      });
    },
  };
}

/** For callers that do not report oddities. */
export const ignoreOddity: NoteOddity = () => undefined;
