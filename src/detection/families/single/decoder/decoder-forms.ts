/** The fields of each kind of decoder, as a pipeline file states them; a recipe has them with all defaults. */
import type { JsonObject } from '../../../../base/json.js';
import { anyList, anyObject, anyOf, anyText, integer, list, listOf, number, object, text } from '../../../../base/schema/build-schema.js';
import { ANCHORS, activation, background, DISTANCES, HEATMAP, OFFSETS, POSITIVE, SIZE } from './map-decoder-forms.js';

const scoreChannel = (description: string) =>
  object(
    { channel: integer(0, 'Counted from 0.') },
    {
      power: { ...number({ exclusiveMinimum: 0 }, 'Exponent of the score.'), default: 1 },
      activation: activation(),
    },
    description,
  );

const GRID = object(
  {
    output: text('[1, rows, channels], [1, channels, rows] or [1, channels, height, width].'),
    boxes: object(
      {
        form: {
          type: 'string',
          enum: ['exp', 'bounded', 'center', 'corners'],
          description:
            'exp: center (xy + cell) · stride, size e^wh · stride. bounded: center (cell + tanh xy) · stride, size sigmoid(wh) · input size. center: cx cy w h, corners: x1 y1 x2 y2, both in pixels of the input.',
        },
      },
      { channel: { ...integer(0, 'First of the four box channels.'), default: 0 } },
      'Position and meaning of the four box channels.',
    ),
    classes: scoreChannel('Channel of the first class.'),
  },
  {
    objectness: scoreChannel('score = objectness^power · class^power. Omit it if rows have no objectness.'),
    strides: {
      ...anyList(integer(1), 'Strides of the grids, in the order of their rows. Required by exp and bounded.'),
      default: [],
    },
    masks: object(
      {
        prototypes: text('[1, count, height, width].'),
        channel: integer(0, 'First coefficient of the mask.'),
        count: integer(1, 'Number of prototypes.'),
      },
      {
        threshold: { ...number({ exclusiveMinimum: 0, maximum: 1 }, 'Pixels above this probability belong to the object.'), default: 0.5 },
      },
      'Masks from prototypes (YOLOv5-seg, v8-seg, v11-seg).',
    ),
    keypoints: object(
      { channel: integer(0, 'Channel of the first point: x, y and visibility per point.'), count: integer(1, 'Number of points.') },
      { activation: { ...activation(), description: 'Activation of the visibility.' } },
      'Points in pixels of the input (YOLOv8-pose, v11-pose).',
    ),
  },
  'One output with a row of channels per candidate: box, objectness, classes (YOLO).',
);

const priors = <const Size extends JsonObject>(size: Size) =>
  object(
    {
      scores: text('[1, priors, classes].'),
      boxes: text('[1, priors, 4]: dx dy dw dh.'),
      levels: list(
        object({
          columns: integer(1, 'Cells across.'),
          rows: integer(1, 'Cells down.'),
          sizes: list(size, 'Sizes of the priors of a cell, in pixels of the input: [width, height], or one number for a square.'),
        }),
        'Levels in the order of the rows. Priors are clipped to the input.',
      ),
    },
    {
      activation: activation('softmax'),
      background,
      variances: {
        ...listOf(2, POSITIVE, 'center = c + v₀ · d · size, size = prior · e^(v₁ · d).'),
        default: [0.1, 0.2],
      },
    },
    'Scores, and offsets to prior boxes (SSD).',
  );

const BOXES = object(
  { scores: text('[1, rows, classes].'), boxes: text('[1, rows, 4].') },
  {
    form: { type: 'string', enum: ['corners', 'center'], default: 'corners', description: 'x1 y1 x2 y2, or cx cy w h.' },
    unit: {
      type: 'string',
      enum: ['pixels', 'fractions'],
      default: 'pixels',
      description: 'Unit of the boxes: pixels, or fractions of the input.',
    },
    activation: activation('softmax'),
    background,
  },
  'Scores, and boxes decoded by the network.',
);

const DETECTIONS = object(
  {
    scores: text('[objects].'),
    boxes: text('[objects, 4]: x1 y1 x2 y2 in pixels of the input.'),
    classes: text('[objects].'),
  },
  {
    firstClass: { ...integer(0, 'Class number of the first category.'), default: 0 },
    corners: {
      type: 'string',
      enum: ['exclusive', 'inclusive'],
      default: 'exclusive',
      description: "inclusive: x2 and y2 are the object's last pixels, and a width is x2 − x1 + 1.",
    },
    masks: object(
      { output: text('[objects, classes, side, side]: probabilities over the box, of which the channel of the object’s class is used.') },
      { threshold: { ...number({ minimum: 0, maximum: 1 }, 'Pixels above this probability belong to the object.'), default: 0.5 } },
      'Masks of the detections.',
    ),
    keypoints: object(
      { output: text('[objects, points, 3]: x, y and visibility of each point, in pixels of the input.') },
      {},
      'Keypoints of the detections (Keypoint R-CNN).',
    ),
  },
  'Detections selected by the network, including suppression.',
);

const JOINED = object(
  {
    output: text('[1, cells, classes + 4 · bins], [1, classes + 4 · bins, cells], or the same without the first dim.'),
    strides: list(integer(1), 'Strides of the grids, in the order of their rows.'),
    bins: integer(1, "Bins of each side's distribution, as of `distances`."),
  },
  {
    center: { ...number({ minimum: 0, maximum: 1 }, 'Place of the center in its cell: 0.5, or 0 for NanoDet-Plus.'), default: 0.5 },
    activation: activation(),
  },
  'One output with scores and distances to four sides for the cells of all strides (NanoDet).',
);

const SELECTED = object(
  { output: text('[1, objects, channels] or [objects, channels].') },
  {
    box: { ...integer(0, 'First of the four box channels: x1 y1 x2 y2 in pixels of the input.'), default: 0 },
    score: { ...integer(0, 'Channel of the score.'), default: 4 },
    class: { ...integer(0, 'Channel of the class number, from 0.'), default: 5 },
  },
  'One output with a row per object: box, score, class number (YOLOv10, exports with suppression).',
);

const OUTPUTS = list(text(), 'Model outputs that are passed to the decoder. Default: all.');
const OPTIONS = { ...anyObject('Options that are passed to the decoder.'), default: {} } as const;

/** Forms that a recipe has with other fields than a pipeline file: all sizes as width and height; the text of the module. */
export const RECIPE_FORMS = {
  priors: priors(SIZE),
  module: object(
    { name: text('Name in messages.'), source: anyText('Text of the module.'), outputs: OUTPUTS },
    { options: OPTIONS },
    'A user-defined decoder, whose text is in the recipe.',
  ),
} as const;

/** The forms of a pipeline file, by kind. */
export const DECODER_FORMS = {
  grid: GRID,
  distances: DISTANCES,
  priors: priors(anyOf([POSITIVE, SIZE])),
  boxes: BOXES,
  detections: DETECTIONS,
  anchors: ANCHORS,
  joined: JOINED,
  selected: SELECTED,
  heatmap: HEATMAP,
  offsets: OFFSETS,
  module: object({}, { outputs: OUTPUTS, options: OPTIONS }, 'A user-defined decoder: the JavaScript file at the input `decoder`.'),
} as const;
