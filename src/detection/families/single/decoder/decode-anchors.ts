/** Decoder of raw maps of anchors: box, objectness and classes before the sigmoid. */
import { formatShape } from '../../../../tensor/shape.js';
import type { PartValuesByName } from '../../../detector/part-runner.js';
import { DetectionError } from '../../../error/detection-error.js';
import { aroundCenter, type Sides } from './box-sides.js';
import { type Candidates, type DecodeContext, makeCandidateWriter } from './candidates.js';
import { sigmoid } from './class-scores.js';
import type { AnchorsDecoder } from './decoder.js';
import { type Cell, listCells } from './grid-cells.js';
import { getOutput } from './output-rows.js';

type Level = AnchorsDecoder['levels'][number];

/** Channels of an anchor before its classes: x y w h objectness. */
const BEFORE_CLASSES = 5;

/**
 * score = sigmoid(objectness) · sigmoid(class).
 * @throws DetectionError `decoder-shape`, `part-values`.
 * @see Redmon and Farhadi, YOLOv3, 2018; the `Detect` layers of YOLOv5 and YOLOv7.
 */
export function decodeAnchors(values: PartValuesByName, { levels, form }: AnchorsDecoder, context: DecodeContext): Candidates {
  const writer = makeCandidateWriter(context);
  const scores = new Float64Array(context.classes);
  for (const level of levels) {
    const cells = listCells(context.input, [level.stride]);
    const { data, places } = readAnchors(values, level, context, cells.length);
    for (const [anchor, size] of level.anchors.entries()) {
      for (const [index, cell] of cells.entries()) {
        const at = (channel: number): number => data[places(anchor, index, channel)] as number;
        const object = sigmoid(at(4));
        for (let label = 0; label < scores.length; label++) scores[label] = object * sigmoid(at(BEFORE_CLASSES + label));
        writer.add(scores, () => readBox([at(0), at(1), at(2), at(3)], cell, size, form));
      }
    }
  }
  return writer.finish();
}

function readBox([x, y, w, h]: Sides, cell: Cell, [width = 0, height = 0]: readonly number[], form: AnchorsDecoder['form']): Sides {
  const { stride } = cell;
  if (form === 'exp')
    return aroundCenter((sigmoid(x) + cell.x) * stride, (sigmoid(y) + cell.y) * stride, width * Math.exp(w), height * Math.exp(h));
  const place = (value: number, index: number): number => (2 * sigmoid(value) - 0.5 + index) * stride;
  return aroundCenter(place(x, cell.x), place(y, cell.y), width * (2 * sigmoid(w)) ** 2, height * (2 * sigmoid(h)) ** 2);
}

interface AnchorMap {
  readonly data: Float32Array;
  readonly places: (anchor: number, cell: number, channel: number) => number;
}

function readAnchors(values: PartValuesByName, { output, anchors }: Level, { classes }: DecodeContext, cells: number): AnchorMap {
  const { dims, data } = getOutput(values, output);
  const channels = BEFORE_CLASSES + classes;
  const [batch, first, second = 0, third = 0, last] = dims;
  if (batch === 1 && dims.length === 4 && first === anchors.length * channels && second * third === cells)
    return { data, places: (anchor, cell, channel) => (anchor * channels + channel) * cells + cell };
  if (batch === 1 && dims.length === 5 && first === anchors.length && second * third === cells && last === channels)
    return { data, places: (anchor, cell, channel) => (anchor * cells + cell) * channels + channel };
  throw new DetectionError(
    'decoder-shape',
    `output "${output}" is ${formatShape(dims)}; the decoder expects [1, ${anchors.length * channels}, height, width] or [1, ${anchors.length}, height, width, ${channels}] with ${cells} cells`,
    { help: 'compare `categories`, anchors and strides of the decoder with the outputs of the model (`tanren onnx inspect`)' },
  );
}
