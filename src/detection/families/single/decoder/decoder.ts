/** Settings of all kinds of decoders, which turn the outputs of a network into boxes, scores and classes. */
import {
  ANYTHING,
  anyList,
  anyOf,
  anyText,
  constant,
  flag,
  integer,
  list,
  listOf,
  number,
  object,
  oneOf,
  text,
} from '../../../../base/schema/build-schema.js';
import type { FromSchema } from '../../../../base/schema/from-schema.js';

const POSITIVE = number({ exclusiveMinimum: 0 });

/** Activation of a score channel: 'none' for probabilities, 'sigmoid' for logits. */
const ACTIVATION = oneOf(['none', 'sigmoid']);
const ANY_ACTIVATION = oneOf(['none', 'sigmoid', 'softmax']);

export type Activation = FromSchema<typeof ACTIVATION>;

const SCORE_CHANNEL = object({ channel: integer(0), power: POSITIVE, activation: ACTIVATION });

export type ScoreChannel = FromSchema<typeof SCORE_CHANNEL>;

const GRID = object(
  {
    kind: constant('grid'),
    output: text(),
    /**
     * 'exp': center = (xy + cell) · stride, size = e^wh · stride. 'bounded': center = (cell + tanh(xy)) · stride, size = sigmoid(wh) · input size.
     * 'center' and 'corners': cx cy w h, or x1 y1 x2 y2, in pixels of the input.
     */
    boxes: object({ channel: integer(0), form: oneOf(['exp', 'bounded', 'center', 'corners']) }),
    strides: anyList(
      integer(1),
      'Strides of the grids, whose cells follow one another, each grid row by row. Required by exp and bounded.',
    ),
    classes: SCORE_CHANNEL,
  },
  { objectness: SCORE_CHANNEL },
);

/**
 * One output with a row of channels per candidate: box, objectness, classes (YOLO and similar networks).
 * Dims are [1, rows, channels], [1, channels, rows] or, for one stride, [1, channels, height, width], distinguished by the number of channels.
 * `classes` is the channel of the first class; score = objectness^power · class^power. Values below 0 count as 0.
 */
export type GridDecoder = FromSchema<typeof GRID>;

const DISTANCES = object({
  kind: constant('distances'),
  levels: list(object({ stride: integer(1), scores: text(), distances: text() })),
  bins: integer(
    1,
    "Bins of each side's distribution; the distance is the expected bin · stride. 1: the output is the distance in strides.",
  ),
  activation: ACTIVATION,
});

/** Per level a map of scores and one of distances from each cell's center to the four sides (FCOS, GFL, PicoDet). Rows: [1, cells, channels]. */
export type DistancesDecoder = FromSchema<typeof DISTANCES>;

const PRIOR_LEVEL = object({
  columns: integer(1),
  rows: integer(1),
  sizes: list(listOf(2, POSITIVE), 'Width and height in pixels of the input.'),
});

export type PriorLevel = FromSchema<typeof PRIOR_LEVEL>;

const PRIORS = object({
  kind: constant('priors'),
  scores: text('[1, priors, classes], where the first class is background if `background` is set.'),
  boxes: text('[1, priors, 4]: dx dy dw dh.'),
  activation: ANY_ACTIVATION,
  background: flag(),
  variances: listOf(2, POSITIVE),
  levels: list(PRIOR_LEVEL, 'Levels in their order; per cell, row by row, one prior per size.'),
});

/** Offsets to prior boxes (SSD): center = c + v₀ · d · size, size = prior · e^(v₁ · d). */
export type PriorsDecoder = FromSchema<typeof PRIORS>;

const BOXES = object({
  kind: constant('boxes'),
  scores: text(),
  boxes: text(),
  form: oneOf(['corners', 'center']),
  unit: oneOf(['pixels', 'fractions']),
  activation: ANY_ACTIVATION,
  background: flag(),
});

/** Boxes decoded by the network, and scores. */
export type BoxesDecoder = FromSchema<typeof BOXES>;

const DETECTIONS = object(
  {
    kind: constant('detections'),
    scores: text('[objects]'),
    boxes: text('[objects, 4]: x1 y1 x2 y2 in pixels of the input.'),
    classes: text('[objects]: the class, counted from `firstClass`.'),
    firstClass: integer(0),
    corners: oneOf(['exclusive', 'inclusive'], 'inclusive: x2 and y2 are the last pixels, so that the width is x2 − x1 + 1.'),
  },
  {
    /** [objects, classes, side, side]: probabilities over the box, of which the channel of the object's class is used, numbered as in `classes`. */
    masks: object({ output: text(), threshold: number({ minimum: 0, maximum: 1 }) }),
  },
);

/** Detections selected by the network, including suppression. */
export type DetectionsDecoder = FromSchema<typeof DETECTIONS>;

const MODULE = object({
  kind: constant('module'),
  name: text('Name in messages.'),
  source: anyText('Text of the module.'),
  outputs: list(text(), 'Model outputs passed to the module.'),
  options: ANYTHING,
});

/** A user-defined module, whose text is in the recipe. `options` are those of the pipeline file. */
export type ModuleDecoder = FromSchema<typeof MODULE>;

/** A new kind adds a form here, and a case in decode.ts. */
export const DECODER_SCHEMA = anyOf([GRID, DISTANCES, PRIORS, BOXES, DETECTIONS, MODULE]);

export type Decoder = FromSchema<typeof DECODER_SCHEMA>;
