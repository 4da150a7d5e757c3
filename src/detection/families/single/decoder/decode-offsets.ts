/** Decoder of maps of scores and of offsets to anchors, per level. */
import type { PartValuesByName } from '../../../detector/part-runner.js';
import { aroundCenter } from './box-sides.js';
import { type Candidates, type DecodeContext, makeCandidateWriter } from './candidates.js';
import { activationOf } from './class-scores.js';
import type { OffsetsDecoder } from './decoder.js';
import { listCells } from './grid-cells.js';
import { checkDims } from './output-rows.js';

/** A box grows at most to 1000/16 of its anchor, as in the code of Detectron and torchvision. */
const LARGEST_GROWTH = Math.log(1000 / 16);

/**
 * Channels are anchor by anchor: of each, all classes, and dx dy dw dh.
 * @throws DetectionError `decoder-shape`, `part-values`.
 * @see Lin et al., Focal Loss for Dense Object Detection, 2017; torchvision's `BoxCoder`.
 */
export function decodeOffsets(
  values: PartValuesByName,
  { levels, center, activation }: OffsetsDecoder,
  context: DecodeContext,
): Candidates {
  const writer = makeCandidateWriter(context);
  const activate = activationOf(activation);
  const labels = new Float64Array(context.classes);
  for (const { stride, scores, boxes, anchors } of levels) {
    const cells = listCells(context.input, [stride]);
    const [height, width] = [Math.ceil(context.input.height / stride), Math.ceil(context.input.width / stride)];
    const { data: logits } = checkDims(values, scores, [1, anchors.length * context.classes, height, width]);
    const { data: offsets } = checkDims(values, boxes, [1, 4 * anchors.length, height, width]);
    for (const [anchor, [w = 0, h = 0]] of anchors.entries()) {
      for (const [index, { x, y }] of cells.entries()) {
        for (let label = 0; label < labels.length; label++)
          labels[label] = activate(logits[(anchor * labels.length + label) * cells.length + index] as number);
        writer.add(labels, () => {
          const at = (side: number): number => offsets[(4 * anchor + side) * cells.length + index] as number;
          const grow = (value: number): number => Math.exp(Math.min(value, LARGEST_GROWTH));
          return aroundCenter((x + center) * stride + at(0) * w, (y + center) * stride + at(1) * h, w * grow(at(2)), h * grow(at(3)));
        });
      }
    }
  }
  return writer.finish();
}
