/** Decoder of one output with a row per candidate: box, objectness and classes. Boxes are decoded, or relative to grid cells. */

import type { PartValuesByName } from '../../../detector/part-runner.js';
import { DetectionError } from '../../../error/detection-error.js';
import type { ImageSize } from '../../../image/image-size.js';
import { aroundCenter, type Sides } from './box-sides.js';
import { type Candidates, type DecodeContext, makeCandidateWriter } from './candidates.js';
import { activationOf, readClassScores, sigmoid } from './class-scores.js';
import type { GridDecoder } from './decoder.js';
import { type Cell, listCells } from './grid-cells.js';
import { checkDims, type OutputRows, readRows } from './output-rows.js';

/**
 * @throws DetectionError `decoder-shape`, `part-values`.
 * @see YOLOX, Ge et al. 2021; FastestDet's `handle_preds`; YOLOv5 and later for 'center'.
 */
export function decodeGrid(values: PartValuesByName, decoder: GridDecoder, context: DecodeContext): Candidates {
  const cells = needsCells(decoder) ? listCells(context.input, decoder.strides) : undefined;
  const rows = readRows(values, decoder.output, countChannels(decoder, context.classes), cells?.length);
  const { objectness, classes } = decoder;
  const classScores = readClassScores(rows, { first: classes.channel, count: context.classes, activation: classes.activation });
  const activateObject = activationOf(objectness?.activation ?? 'none');
  const writer = makeCandidateWriter(context);
  for (let row = 0; row < rows.rows; row++) {
    const object = objectness === undefined ? 1 : raise(activateObject(channelAt(rows, row, objectness.channel)), objectness.power);
    const scores = classScores.read(row);
    for (let label = 0; label < scores.length; label++) scores[label] = object * raise(scores[label] as number, classes.power);
    writer.add(scores, () => readBox(rows, row, decoder, cells?.[row], context.input));
  }
  const found = writer.finish();
  return { ...found, ...readMasks(values, decoder, rows, found.positions), ...readKeypoints(decoder, rows, found.positions) };
}

function readMasks(
  values: PartValuesByName,
  { masks }: GridDecoder,
  rows: OutputRows,
  positions: readonly number[],
): Pick<Candidates, 'masks'> {
  if (masks === undefined) return {};
  const { dims, data } = checkDims(values, masks.prototypes, [1, masks.count, 'any', 'any']);
  const [, , height = 0, width = 0] = dims;
  const coefficients = readChannels(rows, positions, masks.channel, masks.count);
  return { masks: { kind: 'prototypes', coefficients, channels: masks.count, height, width, data, threshold: masks.threshold } };
}

function readKeypoints({ keypoints }: GridDecoder, rows: OutputRows, positions: readonly number[]): Pick<Candidates, 'keypoints'> {
  if (keypoints === undefined) return {};
  const { channel, count, activation } = keypoints;
  const activate = activationOf(activation);
  const data = readChannels(rows, positions, channel, 3 * count);
  return { keypoints: { count, data: data.map((value, index) => (index % 3 === 2 ? activate(value) : value)) } };
}

/** [positions, count] */
function readChannels(rows: OutputRows, positions: readonly number[], first: number, count: number): Float32Array {
  return Float32Array.from({ length: positions.length * count }, (_, index) =>
    channelAt(rows, positions[Math.floor(index / count)] ?? 0, first + (index % count)),
  );
}

/** Scores below 0 count as 0, because the product of two of them would be positive. */
function raise(score: number, power: number): number {
  return Math.max(score, 0) ** power;
}

/** Number of channels: one more than the last channel of box, objectness, classes, mask coefficients and keypoints. */
export function countChannels({ boxes, objectness, classes, masks, keypoints }: GridDecoder, count: number): number {
  const ends = [
    boxes.channel + 4,
    classes.channel + count,
    ...(objectness === undefined ? [] : [objectness.channel + 1]),
    ...(masks === undefined ? [] : [masks.channel + masks.count]),
    ...(keypoints === undefined ? [] : [keypoints.channel + 3 * keypoints.count]),
  ];
  return Math.max(...ends);
}

function needsCells({ boxes }: GridDecoder): boolean {
  return boxes.form === 'exp' || boxes.form === 'bounded';
}

function channelAt({ data, rowStride, channelStride }: OutputRows, row: number, channel: number): number {
  return data[row * rowStride + channel * channelStride] as number;
}

function readBox(rows: OutputRows, row: number, { boxes }: GridDecoder, cell: Cell | undefined, input: ImageSize): Sides {
  const at = (side: number): number => channelAt(rows, row, boxes.channel + side);
  const [a, b, c, d] = [at(0), at(1), at(2), at(3)];
  switch (boxes.form) {
    case 'corners':
      return [a, b, c, d];
    case 'center':
      return aroundCenter(a, b, c, d);
    case 'exp': {
      const { x, y, stride } = getCell(cell);
      return aroundCenter((x + a) * stride, (y + b) * stride, Math.exp(c) * stride, Math.exp(d) * stride);
    }
    case 'bounded': {
      const { x, y, stride } = getCell(cell);
      return aroundCenter((x + Math.tanh(a)) * stride, (y + Math.tanh(b)) * stride, sigmoid(c) * input.width, sigmoid(d) * input.height);
    }
  }
}

function getCell(cell: Cell | undefined): Cell {
  if (cell !== undefined) return cell;
  throw new DetectionError('decoder-shape', 'the output has more rows than the grids of `strides` have cells');
}
