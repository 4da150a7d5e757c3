/** Commands that evaluate detections in COCO format. */
import { InvalidArgumentError } from 'commander';
import type { IouType, OverlapType } from '../../detection/coco/params.js';
import type { ImageChoice } from '../commands/coco/command.js';
import { command, type Declared, group } from './command.js';
import { choice, flag, optional, required, value } from './option.js';
import { json } from './shared-options.js';
import { parseCount, parseNumber, parseText } from './values.js';

function parseCounts(text: string): readonly number[] {
  const counts = text.split(',').map(Number);
  const ascending = counts.every((count, i) => Number.isSafeInteger(count) && count > (counts[i - 1] ?? 0));
  if (counts.length !== 3 || !ascending) throw new InvalidArgumentError('Expected three ascending counts, for example 1,10,100.');
  return counts;
}

function parseSizes(text: string): readonly [number, number] {
  const [small = Number.NaN, large = Number.NaN, ...rest] = text.split(',').map(Number);
  if (rest.length > 0 || !(small > 0 && large >= small && large < 1e5))
    throw new InvalidArgumentError('Expected two ascending lengths in pixels, for example 32,96.');
  return [small, large];
}

function parseThresholds(text: string): readonly number[] {
  const values = text.split(',').map(Number);
  const ascending = values.every((number, i) => number > (values[i - 1] ?? 0) && number <= 1);
  if (text.trim() === '' || !ascending)
    throw new InvalidArgumentError('Expected ascending numbers above 0 and at most 1, for example 0.5,0.75.');
  return values;
}

function parseType(text: string): IouType {
  if (text === 'bbox' || text === 'segm') return text;
  throw new InvalidArgumentError('Expected bbox or segm.');
}

function parseOverlap(text: string): OverlapType {
  if (text === 'bbox' || text === 'segm' || text === 'boundary' || text === 'keypoints') return text;
  throw new InvalidArgumentError('Expected bbox, segm, boundary or keypoints.');
}

function parseSigmas(text: string): readonly number[] {
  const values = text.split(',').map(Number);
  if (text.trim() === '' || !values.every(sigma => sigma > 0 && Number.isFinite(sigma)))
    throw new InvalidArgumentError('Expected numbers above 0, one per keypoint, for example 0.026,0.025,0.035.');
  return values;
}

/** "100": the first 100 images by id; "139,285": the images with these ids. */
function parseImages(text: string): ImageChoice {
  const ids = text.split(',');
  if (ids.length > 1 && ids.every(id => id !== '')) return { kind: 'ids', ids };
  const count = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(count))
    throw new InvalidArgumentError('Expected a count, for example 100, or ids separated by commas, for example 139,285.');
  return { kind: 'first', count };
}

const ON_FILES = {
  groundTruth: required('-g, --ground-truth <file>', 'annotations in COCO format (instances_*.json)', parseText),
  images: value<ImageChoice>('--images <which>', 'the first N images by id, or ids separated by commas', parseImages, {
    value: 'all',
    shown: 'all images',
  }),
};

const parseScore = parseNumber('a number, for example 0.5');

export const COCO: Declared = group('coco', 'evaluate and compare detections in COCO format', [
  command({
    words: 'eval',
    description: 'compute the COCO metrics of detections: boxes, masks, boundaries of masks or keypoints',
    options: {
      ...ON_FILES,
      json,
      detections: required('-d, --detections <file>', 'results in COCO format: a list of detections', parseText),
      type: required(
        '-t, --type <kind>',
        'what is compared: bbox (boxes), segm (masks), boundary (masks near their outlines) or keypoints',
        parseOverlap,
      ),
      maxDets: optional(
        '--max-dets <a,b,c>',
        'limits on detections per image: AR for each limit, AP for the last (default: 1,10,100, and 20 for keypoints)',
        parseCounts,
      ),
      sigmas: optional(
        '--sigmas <list>',
        'standard deviation of each keypoint, as a share of the object (default: those of the 17 points of a person)',
        parseSigmas,
      ),
      sizes: value('--sizes <a,b>', 'sides of the squares that separate small, medium and large objects, in pixels', parseSizes, {
        value: [32, 96],
        shown: '32,96',
      }),
      iou: optional('--iou <list>', 'IoU thresholds, ascending (default: 0.5 to 0.95 in steps of 0.05)', parseThresholds),
      categories: choice(
        '--categories <how>',
        'merged: a detection may match an object of any category',
        ['separate', 'merged'],
        'separate',
      ),
      perClass: flag('--per-class', 'also print the metrics of each category'),
      errors: flag('--errors', 'also print the AP that each kind of error costs (TIDE)'),
      semantic: optional(
        '--semantic [score]',
        'also print pixel accuracy and mIoU of the masks with at least this score',
        parseScore,
        '0.5',
      ),
      curves: optional('--curves <file>', 'write the precision-recall curves to a .json or .svg file', parseText),
    },
    after: 'Example:\n  tanren coco eval -g instances_val2017.json -d detections.json -t segm --per-class --errors',
    run: async (_words, options) => (await import('../commands/coco/eval.js')).runCocoEval(options),
  }),
  command({
    words: 'diff <before> <after>',
    description: 'list the objects that two detectors detect differently, the largest change first',
    options: {
      ...ON_FILES,
      json,
      type: value<IouType>('-t, --type <kind>', 'what IoU is computed on: bbox (boxes) or segm (masks)', parseType, {
        value: 'bbox',
        shown: 'bbox',
      }),
      minScore: value('--min-score <score>', 'ignore detections with a lower score', parseScore, { value: 0.5, shown: '0.5' }),
      top: value('--top <n>', 'number of changes to list and draw', parseCount, { value: 20, shown: '20' }),
      pictures: optional('--pictures <folder>', 'write a PNG with both overlays for each image with a listed change', parseText),
      imageFolder: optional('--image-folder <folder>', 'folder of the images, for --pictures', parseText),
    },
    after: 'Example:\n  tanren coco diff -g instances_val2017.json float.json int8.json --pictures diff --image-folder val2017',
    run: async ([before = '', after = ''], options) => (await import('../commands/coco/diff.js')).runCocoDiff(before, after, options),
  }),
]);
