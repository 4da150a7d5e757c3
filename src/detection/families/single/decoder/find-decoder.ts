/** Finds the likely decoder of a network by the shapes of its outputs, and states what it assumes: shapes alone do not tell everything. */
import type { ImageSize } from '../../../image/image-size.js';
import { BOX, type Form, type FoundDecoder, type OutputShape, type Shape } from './decoder-guess.js';
import { findAnchors, findCentered, findDistances, findHeatmap, findMap, findOffsets } from './map-forms.js';
import { findBoxes, findJoined, findPoses, findRows, findSegments, findSelected } from './row-forms.js';

/** The decoder for `outputs` of a network that takes an image of size `input`; undefined if no form fits. */
export function findDecoder(outputs: readonly OutputShape[], input: ImageSize): FoundDecoder | undefined {
  const detections = findDetections(outputs) ?? findCounted(outputs);
  if (detections !== undefined) return detections;
  const shapes = outputs.flatMap(({ name, dims }): Shape[] =>
    dims?.every(dim => typeof dim === 'number') === true ? [{ name, dims }] : [],
  );
  if (shapes.length !== outputs.length) return undefined;
  for (const form of FORMS) {
    const found = form(shapes, input);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Class, score and the four sides of a box. */
const COUNTED_CHANNELS = 6;

/** PaddleDetection: rows float32 [objects, 6], where the number of objects may be free, and their number, integers [1]. */
function findCounted(outputs: readonly OutputShape[]): FoundDecoder | undefined {
  const rows = outputs.find(({ dtype, dims }) => dtype === 'float32' && dims?.length === 2 && dims[1] === COUNTED_CHANNELS);
  const count = outputs.find(({ dtype, dims }) => (dtype === 'int32' || dtype === 'int64') && dims?.length === 1);
  if (rows === undefined || count === undefined || outputs.length !== 2) return undefined;
  return {
    decoder: { kind: 'selected', output: rows.name, box: 2, score: 1, class: 0 },
    classes: 80,
    assumed: 'rows of class, score and x1 y1 x2 y2 in pixels of the input, and their number, as of PaddleDetection, and 80 classes',
  };
}

/** x, y and visibility of a point. */
const COORDINATES = 3;
/** Boxes, scores and classes of the objects; positions and scores of their points. */
const KEYPOINT_OUTPUTS = 5;

/** Boxes [n, 4], scores [n] and integer classes [n], where n may be free, and keypoints [n, points, 3]; or the first three with a first dim of 1. */
function findDetections(outputs: readonly OutputShape[]): FoundDecoder | undefined {
  return findDetectionsOf(outputs, 0) ?? findDetectionsOf(outputs, 1);
}

function findDetectionsOf(outputs: readonly OutputShape[], batchRank: 0 | 1): FoundDecoder | undefined {
  const find = (dtypes: readonly string[], rank: number): OutputShape | undefined => {
    const [one, ...others] = outputs.filter(
      ({ dtype, dims }) => dtypes.includes(dtype ?? '') && dims?.length === rank + batchRank && (batchRank === 0 || dims[0] === 1),
    );
    return others.length === 0 ? one : undefined;
  };
  const fours = outputs.filter(({ dtype, dims }) => dtype === 'float32' && dims?.length === 2 + batchRank && dims.at(-1) === BOX);
  const [box, score, label] = [
    find(['float32'], 2) ?? (fours.length === 1 ? fours[0] : undefined),
    find(['float32'], 1),
    find(['int64', 'int32'], 1),
  ];
  if (box === undefined || score === undefined || label === undefined) return undefined;
  const [boxes, scores, classes] = [box.name, score.name, label.name];
  const decoder = { kind: 'detections', boxes, scores, classes, firstClass: 0, corners: 'exclusive' } as const;
  if (batchRank === 1) {
    // Exporters give free sizes that are equal several names.
    const counts = new Set([box, score, label].map(({ dims }) => dims?.[1]).filter(dim => typeof dim === 'number'));
    if (outputs.length !== 3 || box.dims?.[2] !== BOX || counts.size > 1) return undefined;
    return { decoder, classes: 80, assumed: 'detections that the network selected, x1 y1 x2 y2 in pixels of the input, and 80 classes' };
  }
  const keypoints = findKeypoints(outputs, find(['float32'], 3));
  return {
    decoder: { ...decoder, ...(keypoints === undefined ? {} : { keypoints }) },
    classes: 'ids of coco',
    assumed: `detections that the network selected, with class numbers that are the ids of COCO${keypoints === undefined ? '' : ', and x, y and visibility of their points'}, as of torchvision`,
  };
}

/** [n, points, 3]. Where the exporter knows no size, the other outputs tell: Keypoint R-CNN also has the scores of its points. */
function findKeypoints(outputs: readonly OutputShape[], points: OutputShape | undefined): { readonly output: string } | undefined {
  const last = points?.dims?.[2];
  const isFound = typeof last === 'number' ? last === COORDINATES : outputs.length === KEYPOINT_OUTPUTS;
  return points !== undefined && isFound ? { output: points.name } : undefined;
}

const FORMS: readonly Form[] = [
  findSelected,
  findPoses,
  findJoined,
  findRows,
  findSegments,
  findMap,
  findBoxes,
  findAnchors,
  findHeatmap,
  findOffsets,
  findCentered,
  findDistances,
];
