/** Decoder of maps of scores and of distances to four sides: one box per cell, around its center. */
import type { PartValuesByName } from '../../../detector/part-runner.js';
import { type Candidates, type DecodeContext, makeCandidateWriter } from './candidates.js';
import { readClassScores } from './class-scores.js';
import type { DistancesDecoder, JoinedDecoder } from './decoder.js';
import { listCells } from './grid-cells.js';
import { type OutputRows, readRows } from './output-rows.js';

/**
 * Distances left, top, right, bottom from ((x + 0.5) · stride, (y + 0.5) · stride). With several bins, each distance is the expected bin of a softmax.
 * @throws DetectionError `decoder-shape`, `part-values`.
 * @see Li et al., Generalized Focal Loss, 2020; Tian et al., FCOS, 2019.
 */
export function decodeDistances(
  values: PartValuesByName,
  { levels, bins, activation }: DistancesDecoder,
  context: DecodeContext,
): Candidates {
  const writer = makeCandidateWriter(context);
  for (const { stride, scores, distances, centers } of levels) {
    const cells = listCells(context.input, [stride]);
    const classRows = readRows(values, scores, context.classes, cells.length);
    const sideRows = readRows(values, distances, 4 * bins, cells.length);
    const classScores = readClassScores(classRows, { first: 0, count: context.classes, activation });
    const near =
      centers === undefined ? undefined : readClassScores(readRows(values, centers, 1, cells.length), { first: 0, count: 1, activation });
    for (const [row, { x, y }] of cells.entries()) {
      const labels = classScores.read(row);
      if (near !== undefined) {
        const [share = 0] = near.read(row);
        for (let label = 0; label < labels.length; label++) labels[label] = Math.sqrt((labels[label] as number) * share);
      }
      writer.add(labels, () => {
        const side = (index: number): number => readDistance(sideRows, row, index * bins, bins) * stride;
        const [cx, cy] = [(x + 0.5) * stride, (y + 0.5) * stride];
        return [cx - side(0), cy - side(1), cx + side(2), cy + side(3)];
      });
    }
  }
  return writer.finish();
}

/**
 * As `decodeDistances`, of one output with the scores first, then the distances.
 * @throws DetectionError `decoder-shape`, `part-values`.
 * @see NanoDet and NanoDet-Plus, whose centers are at the corner of the cell.
 */
export function decodeJoined(values: PartValuesByName, decoder: JoinedDecoder, context: DecodeContext): Candidates {
  const { output, strides, bins, center, activation } = decoder;
  const cells = listCells(context.input, strides);
  const rows = readRows(values, output, context.classes + 4 * bins, cells.length);
  const classScores = readClassScores(rows, { first: 0, count: context.classes, activation });
  const writer = makeCandidateWriter(context);
  for (const [row, { x, y, stride }] of cells.entries()) {
    writer.add(classScores.read(row), () => {
      const side = (index: number): number => readDistance(rows, row, context.classes + index * bins, bins) * stride;
      const [cx, cy] = [(x + center) * stride, (y + center) * stride];
      return [cx - side(0), cy - side(1), cx + side(2), cy + side(3)];
    });
  }
  return writer.finish();
}

/** The expected bin, counted from 0; with one bin, its value. */
function readDistance({ data, rowStride, channelStride }: OutputRows, row: number, first: number, bins: number): number {
  const at = (bin: number): number => data[row * rowStride + (first + bin) * channelStride] as number;
  if (bins === 1) return at(0);
  let most = Number.NEGATIVE_INFINITY;
  for (let bin = 0; bin < bins; bin++) most = Math.max(most, at(bin));
  let sum = 0;
  let weighted = 0;
  for (let bin = 0; bin < bins; bin++) {
    const weight = Math.exp(at(bin) - most);
    sum += weight;
    weighted += bin * weight;
  }
  return weighted / sum;
}
