/** Decoder of a map of centers per class: peaks, with sizes and offsets of the same cell. */
import type { PartValuesByName } from '../../../detector/part-runner.js';
import { aroundCenter } from './box-sides.js';
import { type Candidates, type DecodeContext, makeCandidateWriter } from './candidates.js';
import { activationOf } from './class-scores.js';
import type { HeatmapDecoder } from './decoder.js';
import { checkDims } from './output-rows.js';

/**
 * A cell is a peak of a class if no neighbor among 3 × 3 has a higher score.
 * @throws DetectionError `decoder-shape`, `part-values`.
 * @see Zhou et al., Objects as Points, 2019.
 */
export function decodeHeatmap(values: PartValuesByName, decoder: HeatmapDecoder, context: DecodeContext): Candidates {
  const { stride, activation } = decoder;
  const [height, width] = [Math.ceil(context.input.height / stride), Math.ceil(context.input.width / stride)];
  const { data: maps } = checkDims(values, decoder.scores, [1, context.classes, height, width]);
  const { data: sizes } = checkDims(values, decoder.sizes, [1, 2, height, width]);
  const { data: offsets } = checkDims(values, decoder.offsets, [1, 2, height, width]);
  const area = height * width;
  const activate = activationOf(activation);
  const writer = makeCandidateWriter(context);
  const scores = new Float64Array(context.classes);
  for (let cell = 0; cell < area; cell++) {
    const [x, y] = [cell % width, Math.floor(cell / width)];
    for (let label = 0; label < scores.length; label++) {
      const map = maps.subarray(label * area, (label + 1) * area);
      scores[label] = isPeak(map, x, y, { height, width }) ? activate(map[cell] as number) : Number.NEGATIVE_INFINITY;
    }
    writer.add(scores, () => {
      const [cx, cy] = [x + (offsets[cell] as number), y + (offsets[area + cell] as number)];
      return aroundCenter(cx * stride, cy * stride, (sizes[cell] as number) * stride, (sizes[area + cell] as number) * stride);
    });
  }
  return writer.finish();
}

function isPeak(map: Float32Array, x: number, y: number, { height, width }: { readonly height: number; readonly width: number }): boolean {
  const own = map[y * width + x] as number;
  for (let row = Math.max(0, y - 1); row <= Math.min(height - 1, y + 1); row++)
    for (let column = Math.max(0, x - 1); column <= Math.min(width - 1, x + 1); column++)
      if ((map[row * width + column] as number) > own) return false;
  return true;
}
