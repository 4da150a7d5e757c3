/** The fields of each kind of decoder, as a pipeline file states them; a recipe has them with all defaults. */
import type { JsonObject } from '../../../../base/json.js';

const output = (description: string) => ({ type: 'string', minLength: 1, description }) as const;

const activation = <const More extends readonly string[]>(...more: More) =>
  ({
    type: 'string',
    enum: ['none', 'sigmoid', ...more],
    default: 'none',
    description: 'Activation that turns scores into probabilities; none if they already are.',
  }) as const;

const background = {
  type: 'boolean',
  default: false,
  description: 'Whether the first class is background.',
} as const;

const scoreChannel = (description: string) =>
  ({
    type: 'object',
    additionalProperties: false,
    required: ['channel'],
    description,
    properties: {
      channel: { type: 'integer', minimum: 0, description: 'Counted from 0.' },
      power: { type: 'number', exclusiveMinimum: 0, default: 1, description: 'Exponent of the score.' },
      activation: activation(),
    },
  }) as const;

const form = <const Required extends readonly string[], const Properties extends JsonObject>(
  description: string,
  required: Required,
  properties: Properties,
) => ({ type: 'object', additionalProperties: false, description, required, properties }) as const;

const list = <const Items extends JsonObject>(items: Items, description: string) =>
  ({ type: 'array', minItems: 1, items, description }) as const;

const GRID = form('One output with a row of channels per candidate: box, objectness, classes (YOLO).', ['output', 'boxes', 'classes'], {
  output: output('[1, rows, channels], [1, channels, rows] or [1, channels, height, width].'),
  boxes: {
    type: 'object',
    additionalProperties: false,
    required: ['form'],
    properties: {
      channel: { type: 'integer', minimum: 0, default: 0, description: 'First of the four box channels.' },
      form: {
        type: 'string',
        enum: ['exp', 'bounded', 'center', 'corners'],
        description:
          'exp: center (xy + cell) · stride, size e^wh · stride. bounded: center (cell + tanh xy) · stride, size sigmoid(wh) · input size. center: cx cy w h, corners: x1 y1 x2 y2, both in pixels of the input.',
      },
    },
    description: 'Position and meaning of the four box channels.',
  },
  strides: {
    type: 'array',
    items: { type: 'integer', minimum: 1 },
    default: [],
    description: 'Strides of the grids, in the order of their rows. Required by exp and bounded.',
  },
  objectness: scoreChannel('score = objectness^power · class^power. Omit it if rows have no objectness.'),
  classes: scoreChannel('Channel of the first class.'),
});

const DISTANCES = form('Per level, a map of scores and a map of distances from a cell to four sides (FCOS, GFL, PicoDet).', ['levels'], {
  levels: list(
    {
      type: 'object',
      additionalProperties: false,
      required: ['stride', 'scores', 'distances'],
      properties: {
        stride: { type: 'integer', minimum: 1, description: 'Pixels per cell.' },
        scores: output('[1, cells, classes] or [1, classes, height, width].'),
        distances: output('[1, cells, 4 · bins] or [1, 4 · bins, height, width]: left, top, right, bottom.'),
      },
    },
    'The maps of each stride.',
  ),
  bins: {
    type: 'integer',
    minimum: 1,
    default: 1,
    description:
      "Bins of each side's distribution; the distance is the expected bin of a softmax · stride. 1: the output is the distance in strides.",
  },
  activation: activation(),
});

const priors = <const Size extends JsonObject>(size: Size) =>
  form('Scores, and offsets to prior boxes (SSD).', ['scores', 'boxes', 'levels'], {
    scores: output('[1, priors, classes].'),
    boxes: output('[1, priors, 4]: dx dy dw dh.'),
    activation: activation('softmax'),
    background,
    variances: {
      type: 'array',
      items: { type: 'number', exclusiveMinimum: 0 },
      minItems: 2,
      maxItems: 2,
      default: [0.1, 0.2],
      description: 'center = c + v₀ · d · size, size = prior · e^(v₁ · d).',
    },
    levels: list(
      {
        type: 'object',
        additionalProperties: false,
        required: ['columns', 'rows', 'sizes'],
        properties: {
          columns: { type: 'integer', minimum: 1, description: 'Cells across.' },
          rows: { type: 'integer', minimum: 1, description: 'Cells down.' },
          sizes: list(size, 'Sizes of the priors of a cell, in pixels of the input: [width, height], or one number for a square.'),
        },
      },
      'Levels in the order of the rows. Priors are clipped to the input.',
    ),
  });

const BOXES = form('Scores, and boxes decoded by the network.', ['scores', 'boxes'], {
  scores: output('[1, rows, classes].'),
  boxes: output('[1, rows, 4].'),
  form: { type: 'string', enum: ['corners', 'center'], default: 'corners', description: 'x1 y1 x2 y2, or cx cy w h.' },
  unit: {
    type: 'string',
    enum: ['pixels', 'fractions'],
    default: 'pixels',
    description: 'Unit of the boxes: pixels, or fractions of the input.',
  },
  activation: activation('softmax'),
  background,
});

const DETECTIONS = form('Detections selected by the network, including suppression.', ['scores', 'boxes', 'classes'], {
  scores: output('[objects].'),
  boxes: output('[objects, 4]: x1 y1 x2 y2 in pixels of the input.'),
  classes: output('[objects].'),
  firstClass: { type: 'integer', minimum: 0, default: 0, description: 'Class number of the first category.' },
  corners: {
    type: 'string',
    enum: ['exclusive', 'inclusive'],
    default: 'exclusive',
    description: "inclusive: x2 and y2 are the object's last pixels, and a width is x2 − x1 + 1.",
  },
  masks: form('Masks of the detections.', ['output'], {
    output: output('[objects, classes, side, side]: probabilities over the box, of which the channel of the object’s class is used.'),
    threshold: { type: 'number', minimum: 0, maximum: 1, default: 0.5, description: 'Pixels above this probability belong to the object.' },
  }),
});

/** Width and height of a prior. */
const SIZE = { type: 'array', items: { type: 'number', exclusiveMinimum: 0 }, minItems: 2, maxItems: 2 } as const;

const OUTPUTS = list({ type: 'string', minLength: 1 }, 'Model outputs that are passed to the decoder. Default: all.');
const OPTIONS = { type: 'object', default: {}, description: 'Options that are passed to the decoder.' } as const;

/** Forms that a recipe has with other fields than a pipeline file: all sizes as width and height; the text of the module. */
export const RECIPE_FORMS = {
  priors: priors(SIZE),
  module: form('A user-defined decoder, whose text is in the recipe.', ['name', 'source', 'outputs'], {
    name: { type: 'string', minLength: 1, description: 'Name in messages.' },
    source: { type: 'string', description: 'Text of the module.' },
    outputs: OUTPUTS,
    options: OPTIONS,
  }),
} as const;

/** The forms of a pipeline file, by kind. */
export const DECODER_FORMS = {
  grid: GRID,
  distances: DISTANCES,
  priors: priors({ anyOf: [{ type: 'number', exclusiveMinimum: 0 }, SIZE] }),
  boxes: BOXES,
  detections: DETECTIONS,
  module: form('A user-defined decoder: the JavaScript file at the input `decoder`.', [], { outputs: OUTPUTS, options: OPTIONS }),
} as const;
