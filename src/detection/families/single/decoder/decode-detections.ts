/** Decoder of networks that select their detections themselves, with optional masks and keypoints. */
import { formatShape } from '../../../../tensor/shape.js';
import type { PartValuesByName } from '../../../detector/part-runner.js';
import { DetectionError } from '../../../error/detection-error.js';
import type { CandidateKeypoints, Candidates, DecodeContext, SquareMasks } from './candidates.js';
import type { DetectionsDecoder } from './decoder.js';
import { checkDims, getOutput } from './output-rows.js';

/**
 * Boxes [n, 4], scores [n], classes [n], masks [n, classes, side, side] and keypoints [n, points, 3], each also with a first dim of 1.
 * @throws DetectionError `decoder-shape`, `decoder-result` where a class is not in the recipe, `part-values`.
 */
export function decodeDetections(given: PartValuesByName, decoder: DetectionsDecoder, { classes }: DecodeContext): Candidates {
  const values = ofOneImage(given, decoder);
  const scores = checkDims(values, decoder.scores, ['any']);
  const count = scores.data.length;
  const boxes = checkDims(values, decoder.boxes, [count, 4]);
  const labels = Int32Array.from(checkDims(values, decoder.classes, [count]).data, label => label - decoder.firstClass);
  const odd = labels.find(label => label < 0 || label >= classes);
  if (odd !== undefined)
    throw new DetectionError(
      'decoder-result',
      `output "${decoder.classes}" has class ${odd + decoder.firstClass}; the recipe has ${classes} categories, counted from ${decoder.firstClass}`,
      {
        help: 'check `categories` and `firstClass`',
      },
    );
  return {
    boxes: boxes.data,
    scores: scores.data,
    classes: labels,
    corners: decoder.corners,
    masks:
      decoder.masks &&
      readMasks(
        values,
        decoder.masks,
        Array.from(labels, label => label + decoder.firstClass),
      ),
    keypoints: decoder.keypoints && readKeypoints(values, decoder.keypoints, count),
  };
}

/** The outputs without the dim of the batch. */
function ofOneImage(values: PartValuesByName, { boxes, scores, classes, masks, keypoints }: DetectionsDecoder): PartValuesByName {
  const ranks = new Map([
    [boxes, 2],
    [scores, 1],
    [classes, 1],
  ]);
  if (masks !== undefined) ranks.set(masks.output, 4);
  if (keypoints !== undefined) ranks.set(keypoints.output, 3);
  return Object.fromEntries(
    Object.entries(values).map(([name, tensor]) => {
      const [batch, ...dims] = tensor.dims;
      return [name, batch === 1 && dims.length === ranks.get(name) ? { ...tensor, dims } : tensor];
    }),
  );
}

function readKeypoints(
  values: PartValuesByName,
  { output }: NonNullable<DetectionsDecoder['keypoints']>,
  objects: number,
): CandidateKeypoints {
  const { dims, data } = checkDims(values, output, [objects, 'any', 3]);
  return { count: dims[1] ?? 0, data };
}

function readMasks(
  values: PartValuesByName,
  { output, threshold }: NonNullable<DetectionsDecoder['masks']>,
  channels: readonly number[],
): SquareMasks {
  const { dims, data } = getOutput(values, output);
  const [count, classes = 0, side = 0, other] = dims;
  const most = channels.reduce((a, b) => Math.max(a, b), -1);
  if (dims.length !== 4 || count !== channels.length || side !== other || most >= classes)
    throw new DetectionError(
      'decoder-shape',
      `output "${output}" is ${formatShape(dims)}; the decoder expects [${channels.length}, more than ${most}, side, side]`,
    );
  const area = side * side;
  const own = new Float32Array(channels.length * area);
  for (const [index, channel] of channels.entries()) {
    const from = (index * classes + channel) * area;
    own.set(data.subarray(from, from + area), index * area);
  }
  return { kind: 'squares', side, data: own, threshold };
}
