/** Forms of outputs with a row per candidate or object. */
import type { ImageSize } from '../../../image/image-size.js';
import { BOX, countCells, type Form, type Shape, STRIDES, score } from './decoder-guess.js';

/** [1, a, b] or [a, b]. */
function readPair([output, ...others]: readonly Shape[]): { readonly name: string; readonly pair: readonly [number, number] } | undefined {
  if (output === undefined || others.length > 0) return undefined;
  const dims = output.dims.length === 3 && output.dims[0] === 1 ? output.dims.slice(1) : output.dims;
  const [a, b] = dims;
  return dims.length === 2 && a !== undefined && b !== undefined ? { name: output.name, pair: [a, b] } : undefined;
}

/** Fewer rows are no candidates or detections, but a sequence. */
const LEAST_ROWS = 50;

/** YOLOv10, and exports with suppression: [1, objects, 6], or [objects, 7] with the number of the image first. */
export const findSelected: Form = (outputs, input) => {
  const found = readPair(outputs);
  if (found === undefined) return undefined;
  const { name, pair } = found;
  const [objects, channels] = pair;
  if (channels === 7 && outputs[0]?.dims.length === 2)
    return {
      decoder: { kind: 'selected', output: name, box: 1, score: 6, class: 5 },
      classes: 80,
      assumed: 'rows of image, x1 y1 x2 y2, class and score, as of YOLOv7 with suppression, and 80 classes',
    };
  if (
    channels !== 6 ||
    objects < LEAST_ROWS ||
    [STRIDES, [...STRIDES, 64]].some(strides => [1, 3].includes(objects / countCells(input, strides)))
  )
    return undefined;
  return {
    decoder: { kind: 'selected', output: name, box: 0, score: 4, class: 5 },
    classes: 80,
    assumed: 'rows of x1 y1 x2 y2, score and class, selected by the network as of YOLOv10, and 80 classes',
  };
};

/** NanoDet: scores and distributions of four sides for each cell. */
export const findJoined: Form = (outputs, input) => {
  const found = readPair(outputs);
  if (found === undefined) return undefined;
  const { name, pair } = found;
  const plus = [...STRIDES, 64];
  const strides = [plus, STRIDES].find(one => pair.includes(countCells(input, one)));
  if (strides === undefined) return undefined;
  const channels = pair[0] === countCells(input, strides) ? pair[1] : pair[0];
  const bins = 8;
  const classes = channels - 4 * bins;
  // With three strides, only the 80 classes of COCO tell NanoDet from others.
  if (classes < 1 || (strides !== plus && channels !== 80 + 4 * bins)) return undefined;
  const center = strides === plus ? 0 : 0.5;
  return {
    decoder: { kind: 'joined', output: name, strides, bins, center, activation: 'none' },
    classes,
    assumed: `scores after the sigmoid, then 8 bins per side, as of NanoDet${strides === plus ? '-Plus' : ''}`,
    images: 'bgr-bytes',
  };
};

/** Points of a person in COCO. */
const PERSON_POINTS = 17;
const PROTOTYPES = 32;

/** Strides of networks with a level more: for smaller objects (P2), or for larger ones (P6). */
const MORE_STRIDES = [[4, ...STRIDES], STRIDES, [...STRIDES, 64]] as const;

/** YOLOv8-pose and v11-pose: a box, one score and 17 points per cell. 56 channels could also be those of 52 classes, which no data set of note has. */
export const findPoses: Form = (outputs, input) => {
  const found = readPair(outputs);
  const channels = BOX + 1 + 3 * PERSON_POINTS;
  if (found?.pair[0] !== channels || !MORE_STRIDES.some(strides => found.pair[1] === countCells(input, strides))) return undefined;
  return {
    decoder: {
      kind: 'grid',
      output: found.name,
      boxes: { form: 'center', channel: 0 },
      classes: score(BOX),
      strides: [],
      keypoints: { channel: BOX + 1, count: PERSON_POINTS, activation: 'none' },
    },
    classes: 1,
    assumed: 'rows of cx cy w h, a score, and x, y and visibility of 17 points, as of YOLOv8-pose and v11-pose',
  };
};

/** YOLOv5-seg, v8-seg and v11-seg: rows that end in 32 coefficients, and a map of 32 prototypes. */
export const findSegments: Form = (outputs, input) => {
  const prototypes = outputs.find(({ dims }) => dims.length === 4 && dims[1] === PROTOTYPES);
  const rows = outputs.find(({ dims }) => dims.length === 3);
  if (outputs.length !== 2 || prototypes === undefined || rows === undefined) return undefined;
  const [, first = 0, second = 0] = rows.dims;
  const found = findRows([{ ...rows, dims: first < second ? [1, first - PROTOTYPES, second] : [1, first, second - PROTOTYPES] }], input);
  if (found?.decoder.kind !== 'grid' || typeof found.classes !== 'number') return undefined;
  const { decoder, classes } = found;
  return {
    ...found,
    decoder: {
      ...decoder,
      masks: { prototypes: prototypes.name, channel: decoder.classes.channel + classes, count: PROTOTYPES, threshold: 0.5 },
    },
    assumed: `${found.assumed}, with ${PROTOTYPES} mask coefficients at the end, as of their segmentation networks`,
  };
};

/** YOLOv8, v9 and v11 channels first; YOLOX, v6 with a row per cell; v3, v5 and v7 with a row per anchor. */
export const findRows: Form = (outputs, input) => {
  const found = readPair(outputs);
  if (found === undefined) return undefined;
  const { name, pair } = found;
  const [first, second] = pair;
  const [channels, rows] = first < second ? [first, second] : [second, first];
  if (channels <= BOX || rows < LEAST_ROWS) return undefined;
  const grid = { kind: 'grid', output: name } as const;
  if (channels === first)
    return {
      decoder: { ...grid, boxes: { form: 'center', channel: 0 }, classes: score(4), strides: [] },
      classes: channels - BOX,
      assumed: 'rows of cx cy w h and a score per class, without objectness, as of YOLOv8, v9 and v11',
    };
  if (channels <= BOX + 1 || areTokens(rows, input)) return undefined;
  const perCell = rows === countCells(input, STRIDES);
  const boxes = { form: perCell ? 'exp' : 'center', channel: 0 } as const;
  return {
    decoder: { ...grid, boxes, objectness: score(4), classes: score(5), strides: perCell ? [...STRIDES] : [] },
    classes: channels - BOX - 1,
    assumed: perCell
      ? 'a row per cell of strides 8, 16, 32, as of YOLOX; if the network decodes its boxes, as YOLOv6 does, the form is center'
      : 'rows of cx cy w h, objectness and a score per class, as of YOLOv5 and v7',
    ...(perCell ? { images: 'bgr-bytes' as const } : {}),
  };
};

const PATCHES = [4, 8, 14, 16, 32] as const;
/** Class, distillation and register tokens. */
const MOST_OTHER_TOKENS = 5;

/** Whether rows are as many as the patches of one size, with a few tokens more: features of a transformer. */
function areTokens(rows: number, input: ImageSize): boolean {
  return PATCHES.some(patch => {
    const others = rows - countCells(input, [patch]);
    return others >= 0 && others <= MOST_OTHER_TOKENS;
  });
}

const DETR_CLASSES = 92;
/** Queries of RT-DETR, D-FINE, Deformable and Conditional DETR, and of DINO, which all end in sigmoids. */
const SIGMOID_QUERIES: readonly number[] = [300, 900];
/** DETR and YOLOS have no more queries than this. */
const DETR_QUERIES = 100;
/** Networks with boxes at fixed places have more: fewer rows are queries, or detections that the network selected. */
const LEAST_PRIORS = 1000;

/** Two outputs over the same rows, one of them with four channels. */
export const findBoxes: Form = (outputs, input) => {
  const boxes = outputs.length === 2 ? findBoxOutput(outputs) : undefined;
  const scores = outputs.find(one => one !== boxes);
  const [, rows = 0, classes] = scores?.dims ?? [];
  if (boxes === undefined || scores?.dims.length !== 3 || classes === undefined || rows !== boxes.dims[1]) return undefined;
  const background = classes === 2;
  // DETR: a softmax with a last class that is no object, which no built-in form has.
  if (classes === DETR_CLASSES || rows <= DETR_QUERIES) return undefined;
  if (SIGMOID_QUERIES.includes(rows))
    return {
      decoder: {
        kind: 'boxes',
        scores: scores.name,
        boxes: boxes.name,
        form: 'center',
        unit: 'fractions',
        activation: 'sigmoid',
        background: false,
      },
      classes,
      assumed: 'cx cy w h as fractions of the input, and scores before the sigmoid, as of RT-DETR, D-FINE and Deformable DETR',
    };
  if (rows === countCells(input, STRIDES))
    return {
      decoder: {
        kind: 'boxes',
        scores: scores.name,
        boxes: boxes.name,
        form: 'corners',
        unit: 'pixels',
        activation: 'none',
        background: false,
      },
      classes,
      assumed: 'x1 y1 x2 y2 in pixels and a score per class for the cells of strides 8, 16, 32, as of YOLO-NAS and PP-YOLOE',
    };
  if (rows < LEAST_PRIORS) return undefined;
  return {
    decoder: { kind: 'boxes', scores: scores.name, boxes: boxes.name, form: 'corners', unit: 'fractions', activation: 'none', background },
    classes: background ? 1 : classes,
    assumed: `x1 y1 x2 y2 as fractions of the input${background ? ', and a first class that is background' : ''}`,
  };
};

/** The output with four channels; of two, as with four classes, the one that names tell to be boxes. */
function findBoxOutput(outputs: readonly Shape[]): Shape | undefined {
  const [one, other] = outputs.filter(({ dims }) => dims.length === 3 && dims[2] === BOX);
  if (one === undefined || other === undefined) return one;
  const [box, ...boxes] = [one, other].filter(({ name }) => /box|(?<!b)loc|coord/i.test(name));
  if (box !== undefined) return boxes.length === 0 ? box : undefined;
  const [rest, ...others] = [one, other].filter(({ name }) => !/score|logit|class|cls|conf|prob/i.test(name));
  return others.length === 0 ? rest : undefined;
}
