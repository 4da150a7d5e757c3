/** How does `with` say in which form a network's outputs are? One key per form, each with its own settings. */
import type { JsonObject } from '../../src/base/json.js';

const output = (description: string): JsonObject => ({ type: 'string', minLength: 1, description });

const activation = (...more: readonly string[]): JsonObject => ({
  type: 'string',
  enum: ['none', 'sigmoid', ...more],
  default: 'none',
  description: 'What makes probabilities of the scores; none where they are that already.',
});

const background: JsonObject = {
  type: 'boolean',
  default: false,
  description: 'Whether the first class is background.',
};

const scoreChannel = (description: string): JsonObject => ({
  type: 'object',
  additionalProperties: false,
  required: ['channel'],
  description,
  properties: {
    channel: { type: 'integer', minimum: 0, description: 'Counted from 0.' },
    power: { type: 'number', exclusiveMinimum: 0, default: 1, description: 'What it is raised to.' },
    activation: activation(),
  },
});

const form = (description: string, required: readonly string[], properties: JsonObject): JsonObject => ({
  type: 'object',
  additionalProperties: false,
  description,
  required,
  properties,
});

const list = (items: JsonObject, description: string): JsonObject => ({ type: 'array', minItems: 1, items, description });

const GRID = form(
  'One output with a row of channels per candidate: box, objectness, classes, as YOLO has it.',
  ['output', 'boxes', 'classes'],
  {
    output: output('[1, rows, channels], [1, channels, rows] or [1, channels, height, width].'),
    boxes: {
      type: 'object',
      additionalProperties: false,
      required: ['form'],
      properties: {
        channel: { type: 'integer', minimum: 0, default: 0, description: 'The first of four.' },
        form: {
          type: 'string',
          enum: ['exp', 'bounded', 'center', 'corners'],
          description:
            'exp: centre (xy + cell) · stride, size e^wh · stride. bounded: centre (cell + tanh xy) · stride, size sigmoid(wh) of the input. center: cx cy w h, corners: x1 y1 x2 y2, in pixels of the input already.',
        },
      },
      description: 'Where a row has its box, and what its four channels mean.',
    },
    strides: {
      type: 'array',
      items: { type: 'integer', minimum: 1 },
      default: [],
      description: 'Pixels per cell of the maps whose rows follow one another. Needed by exp and bounded.',
    },
    objectness: scoreChannel('score = objectness^power · class^power; left out where rows have none.'),
    classes: scoreChannel('The first class.'),
  },
);

const DISTANCES = form(
  'Per level a map of scores and one of distances from a cell to four sides, as FCOS, GFL and PicoDet have them.',
  ['levels'],
  {
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
      description: "Of each side's distribution: softmax, expected bin · stride. 1: the distance itself, in strides.",
    },
    activation: activation(),
  },
);

const PRIORS = form('Scores, and offsets to prior boxes, as SSD has them.', ['scores', 'boxes', 'levels'], {
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
    description: 'centre = c + v₀ · d · size, size = prior · e^(v₁ · d).',
  },
  levels: list(
    {
      type: 'object',
      additionalProperties: false,
      required: ['columns', 'rows', 'sizes'],
      properties: {
        columns: { type: 'integer', minimum: 1, description: 'Cells across.' },
        rows: { type: 'integer', minimum: 1, description: 'Cells down.' },
        sizes: list(
          {
            anyOf: [
              { type: 'number', exclusiveMinimum: 0 },
              { type: 'array', items: { type: 'number', exclusiveMinimum: 0 }, minItems: 2, maxItems: 2 },
            ],
          },
          'Of the priors of a cell, in pixels of the input: [width, height], or one number for a square.',
        ),
      },
    },
    'Maps in the order of the rows.',
  ),
});

const BOXES = form('Scores, and boxes that the network has decoded itself.', ['scores', 'boxes'], {
  scores: output('[1, rows, classes].'),
  boxes: output('[1, rows, 4].'),
  form: { type: 'string', enum: ['corners', 'center'], default: 'corners', description: 'x1 y1 x2 y2, or cx cy w h.' },
  unit: { type: 'string', enum: ['pixels', 'fractions'], default: 'pixels', description: 'Of the input.' },
  activation: activation('softmax'),
  background,
});

const DETECTIONS = form('Detections that the network has selected itself, suppression included.', ['scores', 'boxes', 'classes'], {
  scores: output('[objects].'),
  boxes: output('[objects, 4]: x1 y1 x2 y2 in pixels of the input.'),
  classes: output('[objects].'),
  firstClass: { type: 'integer', minimum: 0, default: 0, description: 'The number that the first category has among them.' },
  corners: {
    type: 'string',
    enum: ['exclusive', 'inclusive'],
    default: 'exclusive',
    description: "inclusive: x2 and y2 are the object's last pixels, and a width is x2 − x1 + 1.",
  },
  masks: form('Masks beside them.', ['output'], {
    output: output('[objects, classes, side, side]: probabilities over the box; the channel of the object’s class counts.'),
    threshold: { type: 'number', minimum: 0, maximum: 1, default: 0.5, description: 'Above which a pixel belongs to the object.' },
  }),
});

const MODULE = form('A decoder of your own: the JavaScript file at the input `decoder`.', [], {
  outputs: list({ type: 'string', minLength: 1 }, 'Outputs of the model that it is given; all where absent.'),
  options: { type: 'object', default: {}, description: 'Given to it as they are.' },
});

export const DECODER_SCHEMA: JsonObject = {
  type: 'object',
  additionalProperties: false,
  description: 'How boxes, scores and classes are read from the outputs. One of these.',
  properties: { grid: GRID, distances: DISTANCES, priors: PRIORS, boxes: BOXES, detections: DETECTIONS, module: MODULE },
};
