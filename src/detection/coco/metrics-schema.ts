/** The metrics of `evaluate`: the 12 COCO figures per IoU type, counts, and differences to a baseline. */
import { integer, mapOf, number, openObject } from '../../base/schema/build-schema.js';
import { type FromSchema, schemaOf } from '../../base/schema/from-schema.js';
import { type CocoFigures, KEYPOINT_FIGURE_NAMES, type KeypointFigures } from './evaluate.js';
import { COCO_FIGURE_NAMES } from './figure-names.js';

const FIGURES = Object.fromEntries(COCO_FIGURE_NAMES.map(name => [name, number()]));

const ALL_FIGURES = schemaOf<CocoFigures>({ ...openObject(FIGURES), description: 'The 12 figures; −1 marks a figure without objects.' });
const SOME_FIGURES = schemaOf<Partial<CocoFigures>>(openObject({}, FIGURES));

const POINT_FIGURES = Object.fromEntries(KEYPOINT_FIGURE_NAMES.map(name => [name, number()]));
const KEYPOINTS = schemaOf<KeypointFigures>({ ...openObject(POINT_FIGURES), description: 'The 10 figures of keypoints.' });
const SOME_KEYPOINTS = schemaOf<Partial<KeypointFigures>>(openObject({}, POINT_FIGURES));

export const COCO_METRICS_SCHEMA = openObject(
  { images: integer(0), detections: integer(0) },
  {
    bbox: ALL_FIGURES,
    segm: ALL_FIGURES,
    boundary: ALL_FIGURES,
    keypoints: KEYPOINTS,
    delta: openObject(
      {},
      { bbox: SOME_FIGURES, segm: SOME_FIGURES, boundary: SOME_FIGURES, keypoints: SOME_KEYPOINTS },
      'These figures minus those of the baseline, where both have objects.',
    ),
    rounding: mapOf(number(), { description: 'With `runner: simulate`: how many results of one image another rounding would change.' }),
  },
);

export type CocoMetrics = FromSchema<typeof COCO_METRICS_SCHEMA>;
