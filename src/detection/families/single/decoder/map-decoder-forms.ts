/** The fields of decoders of maps, as a pipeline file states them, and fields that several decoders share. */
import { flag, integer, list, listOf, number, object, text } from '../../../../base/schema/build-schema.js';

export const POSITIVE = number({ exclusiveMinimum: 0 });

/** Width and height. */
export const SIZE = listOf(2, POSITIVE);

export const activation = <const More extends readonly string[]>(...more: More) =>
  ({
    type: 'string',
    enum: ['none', 'sigmoid', ...more],
    default: 'none',
    description: 'Activation that turns scores into probabilities; none if they already are.',
  }) as const;

export const background = { ...flag('Whether the first class is background.'), default: false } as const;

export const DISTANCES = object(
  {
    levels: list(
      object(
        {
          stride: integer(1, 'Pixels per cell.'),
          scores: text('[1, cells, classes] or [1, classes, height, width].'),
          distances: text('[1, cells, 4 · bins] or [1, 4 · bins, height, width]: left, top, right, bottom.'),
        },
        {
          centers: text(
            'Centerness, [1, cells, 1] or [1, 1, height, width], with the activation of the scores: score = √(class · centerness).',
          ),
        },
      ),
      'The maps of each stride.',
    ),
  },
  {
    bins: {
      ...integer(
        1,
        "Bins of each side's distribution; the distance is the expected bin of a softmax · stride. 1: the output is the distance in strides.",
      ),
      default: 1,
    },
    activation: activation(),
  },
  'Per level, a map of scores and a map of distances from a cell to four sides (FCOS, GFL, PicoDet).',
);

export const ANCHORS = object(
  {
    form: {
      type: 'string',
      enum: ['exp', 'square'],
      description:
        'exp (YOLO v3, v4): center (sigmoid xy + cell) · stride, size anchor · e^wh. square (v5, v7): center (2 · sigmoid xy − 0.5 + cell) · stride, size anchor · (2 · sigmoid wh)².',
    },
    levels: list(
      object({
        stride: integer(1, 'Pixels per cell.'),
        output: text('[1, anchors · (5 + classes), height, width] or [1, anchors, height, width, 5 + classes].'),
        anchors: list(SIZE, 'Width and height of each anchor, in pixels of the input.'),
      }),
      'The maps of each stride.',
    ),
  },
  {},
  'Raw maps of anchors: four box channels, objectness, classes, all before the sigmoid (YOLO v3 to v5, v7).',
);

export const OFFSETS = object(
  {
    levels: list(
      object({
        stride: integer(1, 'Pixels per cell.'),
        scores: text('[1, anchors · classes, height, width].'),
        boxes: text('[1, anchors · 4, height, width]: dx dy dw dh.'),
        anchors: list(SIZE, 'Width and height of each anchor, in pixels of the input.'),
      }),
      'The maps of each stride.',
    ),
  },
  {
    center: {
      ...number({ minimum: 0, maximum: 1 }, 'Place of the anchors in their cell: 0 for its corner, 0.5 for its center.'),
      default: 0,
    },
    activation: activation(),
  },
  'Per level, maps of scores and of offsets to anchors: center = c + d · size, size = anchor · e^d (RetinaNet).',
);

export const HEATMAP = object(
  {
    stride: integer(1, 'Pixels per cell.'),
    scores: text('[1, classes, height, width].'),
    sizes: text('[1, 2, height, width]: width and height of the object, in cells.'),
    offsets: text('[1, 2, height, width]: place of the center in its cell.'),
  },
  { activation: activation() },
  'A map of centers per class, whose peaks among 3 × 3 cells are objects (CenterNet).',
);
