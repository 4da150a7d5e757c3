/** Decoder of an output of scores and an output of boxes, either decoded or relative to priors. */
import { assertNever } from '../../../../base/assert-never.js';
import type { PartValuesByName } from '../../../detector/part-runner.js';
import { aroundCenter, type Sides } from './box-sides.js';
import { type Candidates, type DecodeContext, makeCandidateWriter } from './candidates.js';
import { type ClassScores, readClassScores, readSoftmaxScores } from './class-scores.js';
import type { BoxesDecoder, PriorsDecoder } from './decoder.js';
import { type OutputRows, readRows } from './output-rows.js';
import { countPriors, listPriors } from './priors.js';

/** @throws DetectionError `decoder-shape`, `part-values`. */
export function decodeBoxRows(values: PartValuesByName, decoder: BoxesDecoder, context: DecodeContext): Candidates {
  const boxes = readRows(values, decoder.boxes, 4);
  const [scaleX, scaleY] = decoder.unit === 'pixels' ? [1, 1] : [context.input.width, context.input.height];
  return collect(values, decoder, context, boxes.rows, row => {
    const [a, b, c, d] = fourOf(boxes, row);
    const [x1, y1, x2, y2] = decoder.form === 'corners' ? [a, b, c, d] : aroundCenter(a, b, c, d);
    return [x1 * scaleX, y1 * scaleY, x2 * scaleX, y2 * scaleY];
  });
}

/**
 * @throws DetectionError `decoder-shape`, `part-values`.
 * @see Liu et al., SSD, 2016, and the variances of its code.
 */
export function decodePriors(values: PartValuesByName, decoder: PriorsDecoder, context: DecodeContext): Candidates {
  const { width, height } = context.input;
  // The count is checked before the priors are made: they must match the rows of the output.
  const boxes = readRows(values, decoder.boxes, 4, countPriors(decoder.levels));
  const priors = listPriors(decoder.levels, context.input);
  const [center = 1, size = 1] = decoder.variances;
  return collect(values, decoder, context, boxes.rows, row => {
    const [dx, dy, dw, dh] = fourOf(boxes, row);
    const at = (field: number): number => priors[4 * row + field] as number;
    const [x1, y1, x2, y2] = aroundCenter(
      at(0) + center * dx * at(2),
      at(1) + center * dy * at(3),
      at(2) * Math.exp(size * dw),
      at(3) * Math.exp(size * dh),
    );
    return [x1 * width, y1 * height, x2 * width, y2 * height];
  });
}

type ScoredDecoder = Pick<BoxesDecoder, 'scores' | 'activation' | 'background'>;

function collect(
  values: PartValuesByName,
  decoder: ScoredDecoder,
  context: DecodeContext,
  rows: number,
  boxOf: (row: number) => Sides,
): Candidates {
  const scores = openScores(values, decoder, context, rows);
  const writer = makeCandidateWriter(context);
  for (let row = 0; row < rows; row++) writer.add(scores.read(row), () => boxOf(row));
  return writer.finish();
}

function openScores(
  values: PartValuesByName,
  { scores, activation, background }: ScoredDecoder,
  { classes }: DecodeContext,
  rows: number,
): ClassScores {
  const first = background ? 1 : 0;
  const read = readRows(values, scores, classes + first, rows);
  switch (activation) {
    case 'none':
    case 'sigmoid':
      return readClassScores(read, { first, count: classes, activation });
    case 'softmax':
      return readSoftmaxScores(read, background);
    default:
      return assertNever(activation);
  }
}

function fourOf({ data, rowStride, channelStride }: OutputRows, row: number): Sides {
  const at = (side: number): number => data[row * rowStride + side * channelStride] as number;
  return [at(0), at(1), at(2), at(3)];
}
