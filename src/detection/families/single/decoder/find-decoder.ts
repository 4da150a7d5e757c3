/** Finds the likely decoder of a network by the shapes of its outputs, and states what it assumes: shapes alone do not tell everything. */
import type { ImageSize } from '../../../image/image-size.js';
import type { Form, FoundDecoder, OutputShape, Shape } from './decoder-guess.js';
import { findAnchors, findCentered, findDistances, findHeatmap, findMap, findOffsets } from './map-forms.js';
import { findBoxes, findJoined, findPoses, findRows, findSegments, findSelected } from './row-forms.js';

/** The decoder for `outputs` of a network that takes an image of size `input`; undefined if no form fits. */
export function findDecoder(outputs: readonly OutputShape[], input: ImageSize): FoundDecoder | undefined {
  const detections = findDetections(outputs);
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

/** Boxes [n, 4], scores [n] and integer classes [n]: the free size of all is the number of objects. */
function findDetections(outputs: readonly OutputShape[]): FoundDecoder | undefined {
  const find = (dtype: string, rank: number): string | undefined => {
    const [one, ...others] = outputs.filter(({ dtype: own, dims }) => own === dtype && dims?.length === rank);
    return others.length === 0 ? one?.name : undefined;
  };
  const [boxes, scores, classes] = [find('float32', 2), find('float32', 1), find('int64', 1)];
  if (boxes === undefined || scores === undefined || classes === undefined) return undefined;
  return {
    decoder: { kind: 'detections', boxes, scores, classes, firstClass: 0, corners: 'exclusive' },
    classes: 'ids of coco',
    assumed: 'detections that the network selected, with class numbers that are the ids of COCO, as of torchvision',
  };
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
