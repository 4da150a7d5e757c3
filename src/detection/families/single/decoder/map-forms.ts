/** Forms of outputs that are maps of cells. */
import type { ImageSize } from '../../../image/image-size.js';
import { BOX, countCells, type Form, type Shape, STRIDES, score } from './decoder-guess.js';

/** Anchors of COCO that YOLOv3 and YOLOv5 publish, by stride. */
const ANCHORS_V3 = [
  [
    [10, 13],
    [16, 30],
    [33, 23],
  ],
  [
    [30, 61],
    [62, 45],
    [59, 119],
  ],
  [
    [116, 90],
    [156, 198],
    [373, 326],
  ],
] as const;

/** FastestDet: one map of stride 16 with objectness, a box and 80 scores per cell. Other maps may be anything. */
export const findMap: Form = ([output, ...others], input) => {
  const [batch, channels = 0, height = 0, width = 0] = output?.dims ?? [];
  if (output === undefined || others.length > 0 || output.dims.length !== 4 || batch !== 1 || channels !== BOX + 1 + 80) return undefined;
  const stride = 16;
  if (countCells(input, [stride]) !== height * width) return undefined;
  return {
    decoder: {
      kind: 'grid',
      output: output.name,
      boxes: { form: 'bounded', channel: 1 },
      objectness: score(0, 'none', 0.6),
      classes: score(5, 'none', 0.4),
      strides: [stride],
    },
    classes: channels - BOX - 1,
    assumed: 'objectness, a box and a score per class in each cell, as of FastestDet',
    images: 'bgr-bytes',
  };
};

/** Raw maps of YOLO: channels of three anchors, or [1, 3, height, width, channels]. */
export const findAnchors: Form = (outputs, input) => {
  const levels = outputs.map(({ name, dims }) => {
    const [, first = 0, second = 0, third = 0, fourth] = dims;
    const [height, width, channels] = dims.length === 5 ? [second, third, fourth ?? 0] : [second, third, first / 3];
    const stride = Math.round(input.height / height);
    const fits = (dims.length === 4 || (dims.length === 5 && first === 3)) && countCells(input, [stride]) === height * width;
    return { name, stride, channels, rank: dims.length, fits };
  });
  const sorted = [...levels].sort((a, b) => a.stride - b.stride);
  const [level] = sorted;
  if (level === undefined || sorted.length !== STRIDES.length || level.channels <= BOX + 1 || !Number.isInteger(level.channels))
    return undefined;
  if (!sorted.every(({ fits, stride, channels }, index) => fits && stride === STRIDES[index] && channels === level.channels))
    return undefined;
  const form = level.rank === 5 ? 'square' : 'exp';
  return {
    decoder: {
      kind: 'anchors',
      form,
      levels: sorted.map(({ name, stride }, index) => ({
        stride,
        output: name,
        anchors: (ANCHORS_V3[index] ?? []).map(size => [...size]),
      })),
    },
    classes: level.channels - BOX - 1,
    assumed: `raw maps of three anchors with the sizes that YOLOv3 and v5 publish, boxes as of ${form === 'exp' ? 'YOLOv3' : 'YOLOv5'}`,
  };
};

/** CenterNet: a map per class, and two maps of two channels. */
export const findHeatmap: Form = (outputs, input) => {
  if (outputs.length !== 3 || outputs.some(({ dims }) => dims.length !== 4)) return undefined;
  const [scores, ...others] = outputs.filter(({ dims }) => dims[1] !== 2);
  const [sizes, offsets] = outputs.filter(({ dims }) => dims[1] === 2);
  if (scores === undefined || others.length > 0 || sizes === undefined || offsets === undefined) return undefined;
  const [, classes = 0, height = 0, width = 0] = scores.dims;
  const stride = Math.round(input.height / height);
  if (countCells(input, [stride]) !== height * width) return undefined;
  return {
    decoder: { kind: 'heatmap', stride, scores: scores.name, sizes: sizes.name, offsets: offsets.name, activation: 'sigmoid' },
    classes,
    assumed: `a map of centers before the sigmoid, then sizes ("${sizes.name}") and offsets ("${offsets.name}") in cells, as of CenterNet`,
  };
};

/** Anchors of a cell: of each ratio of height to width, three sizes of a third of an octave, from four strides on. */
function listRetinaAnchors(stride: number): number[][] {
  return [0.5, 1, 2].flatMap(ratio =>
    [0, 1, 2].map(third => {
      const side = 4 * stride * 2 ** (third / 3);
      return [side / Math.sqrt(ratio), side * Math.sqrt(ratio)];
    }),
  );
}

/** Maps by level, of which `strides` have the sizes; each with its number of channels. Undefined if one has the size of no level, or levels have other counts. */
function groupByLevel(outputs: readonly Shape[], input: ImageSize, perLevel: number) {
  const levels = [...STRIDES, 64, 128].map(stride => {
    const [height, width] = [Math.ceil(input.height / stride), Math.ceil(input.width / stride)];
    return { stride, maps: outputs.filter(({ dims }) => dims.length === 4 && dims[0] === 1 && dims[2] === height && dims[3] === width) };
  });
  const used = levels.filter(({ maps }) => maps.length > 0);
  const fits = used.length > 1 && used.every(({ maps }) => maps.length === perLevel) && perLevel * used.length === outputs.length;
  return fits ? used : undefined;
}

/** RetinaNet: per level, maps of nine anchors with scores and offsets. */
export const findOffsets: Form = (outputs, input) => {
  const anchors = 9;
  const levels = groupByLevel(outputs, input, 2)?.map(({ stride, maps }) => {
    const boxes = maps.find(({ dims }) => dims[1] === BOX * anchors);
    const scores = maps.find(one => one !== boxes);
    return { stride, boxes: boxes?.name, scores: scores?.name, classes: (scores?.dims[1] ?? 0) / anchors };
  });
  const [first] = levels ?? [];
  if (levels === undefined || first === undefined || !Number.isInteger(first.classes)) return undefined;
  const named = levels.flatMap(({ stride, boxes, scores, classes }) =>
    boxes === undefined || scores === undefined || classes !== first.classes
      ? []
      : [{ stride, scores, boxes, anchors: listRetinaAnchors(stride) }],
  );
  if (named.length < levels.length) return undefined;
  return {
    decoder: { kind: 'offsets', levels: named, center: 0, activation: 'sigmoid' },
    classes: first.classes,
    assumed:
      'scores before the sigmoid and offsets to nine anchors per cell, of three ratios and three sizes from four strides on, as of RetinaNet',
  };
};

/** FCOS with centerness: per level, maps of scores, distances and centers. */
export const findCentered: Form = (outputs, input) => {
  const levels = groupByLevel(outputs, input, 3)?.map(({ stride, maps }) => {
    const centers = maps.find(({ dims }) => dims[1] === 1);
    const distances = maps.find(({ dims }) => dims[1] === BOX);
    const scores = maps.find(one => one !== centers && one !== distances);
    return { stride, scores, distances, centers };
  });
  const classes = levels?.[0]?.scores?.dims[1];
  if (levels === undefined || classes === undefined) return undefined;
  const named = levels.flatMap(({ stride, scores, distances, centers }) =>
    scores?.dims[1] !== classes || distances === undefined || centers === undefined
      ? []
      : [{ stride, scores: scores.name, distances: distances.name, centers: centers.name }],
  );
  if (named.length < levels.length) return undefined;
  return {
    decoder: { kind: 'distances', levels: named, bins: 1, activation: 'sigmoid' },
    classes,
    assumed: 'per level scores and centerness before the sigmoid, and distances in strides, as of FCOS',
  };
};

/** FCOS, GFL, PicoDet: per level a map of scores and one of distances. */
export const findDistances: Form = (outputs, input) => {
  const strides = [...STRIDES, 64, 128];
  const sized = outputs.flatMap(({ name, dims }) => {
    const [, first = 0, second = 0, third] = dims;
    const [cells, channels] = third === undefined ? [first, second] : [second * third, first];
    const stride = strides.find(one => countCells(input, [one]) === cells);
    return stride === undefined || dims[0] !== 1 || dims.length < 3 || dims.length > 4 ? [] : [{ name, stride, channels }];
  });
  const found = strides.flatMap(stride => {
    const [a, b, ...others] = sized.filter(one => one.stride === stride);
    return a === undefined || b === undefined || others.length > 0 ? [] : [[a, b] as const];
  });
  const counts = found.map(pair => new Set(pair.map(({ channels }) => channels)));
  const shared = [...(counts[0] ?? [])].filter(count => counts.every(one => one.has(count)));
  // Sides are those of 4, 32 or 68 channels (1, 8 or 17 bins); scores the others.
  const sides = [68, 32, BOX].find(count => shared.includes(count));
  const classes = shared.find(count => count !== sides);
  if (
    sized.length !== outputs.length ||
    found.length < 2 ||
    2 * found.length !== outputs.length ||
    sides === undefined ||
    classes === undefined
  )
    return undefined;
  const nameOf = (pair: readonly (typeof sized)[number][], channels: number): string =>
    pair.find(one => one.channels === channels)?.name ?? '';
  return {
    decoder: {
      kind: 'distances',
      levels: found.map(pair => ({ stride: pair[0].stride, scores: nameOf(pair, classes), distances: nameOf(pair, sides) })),
      bins: sides / 4,
      activation: 'none',
    },
    classes,
    assumed: `a map of scores after the sigmoid and one of distances in strides per level${sides === BOX ? '' : `, in ${sides / 4} bins per side`}, as of FCOS and PicoDet`,
  };
};
