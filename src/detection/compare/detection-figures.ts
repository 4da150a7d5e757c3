/** Figures of a comparison of detections, as reports have them. */
import { anyOf, anyText, integer, listOf, NULL, number, openObject } from '../../base/schema/build-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';

/** An object without a partner, in the report of `verify`. */
export const LONE_OBJECT_SCHEMA = openObject({
  image: anyOf([number(), anyText(), NULL], 'Id of the image.'),
  label: integer(0, 'Its class.'),
  score: number({}, 'Its score.'),
  box: listOf(4, number(), 'x1, y1, x2, y2 in the image.'),
});

export type LoneObject = FromSchema<typeof LONE_OBJECT_SCHEMA>;

const share = (description: string) => number({ minimum: 0, maximum: 1 }, description);

/** Figures of a comparison. Without pairs, differences are 0 and IoUs 1; without objects, shares are 0. */
export const DETECTION_FIGURES_SCHEMA = openObject({
  reference: integer(0, 'Number of detections of the reference.'),
  candidate: integer(0, 'Number of detections of the candidate.'),
  matched: integer(0, 'Number of pairs.'),
  missed: integer(0, 'Detections of the reference without a partner.'),
  extra: integer(0, 'Detections of the candidate without a partner.'),
  missedShare: share('Missed detections, as a share of those of the reference.'),
  extraShare: share('Extra detections, as a share of those of the candidate.'),
  meanScoreDifference: number({ minimum: 0 }, 'Mean absolute difference of scores over all pairs.'),
  maxScoreDifference: number({ minimum: 0 }, 'Largest difference of scores.'),
  meanBoxIou: share('Mean box IoU over all pairs.'),
  minBoxIou: share('Smallest box IoU of a pair.'),
  meanMaskIou: share('Mean mask IoU over all pairs; two empty masks have 1.'),
  minMaskIou: share('Smallest mask IoU of a pair.'),
});

export type DetectionFigures = FromSchema<typeof DETECTION_FIGURES_SCHEMA>;
