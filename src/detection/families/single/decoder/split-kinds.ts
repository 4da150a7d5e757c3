/** The kinds of numbers in the output that a grid decoder reads, as tensors of their own: boxes hide errors of scores that are hundreds of times smaller. */
import { makeTensor, type Tensor } from '../../../../tensor/tensor.js';
import type { PartValuesByName } from '../../../detector/part-runner.js';
import { countChannels } from './decode-grid.js';
import type { Decoder } from './decoder.js';
import { type OutputRows, readRows } from './output-rows.js';

/** Boxes, objectness and classes as [rows, channels], by `OUTPUT/kind`. Other decoders read every kind from an output of its own. @throws DetectionError `decoder-shape`. */
export function splitDecoded(decoder: Decoder, outputs: PartValuesByName, classes: number): PartValuesByName {
  if (decoder.kind !== 'grid' || outputs[decoder.output] === undefined) return {};
  const rows = readRows(outputs, decoder.output, countChannels(decoder, classes));
  const { output, boxes, objectness } = decoder;
  return {
    [`${output}/boxes`]: takeChannels(rows, boxes.channel, 4),
    ...(objectness === undefined ? {} : { [`${output}/objectness`]: takeChannels(rows, objectness.channel, 1) }),
    [`${output}/classes`]: takeChannels(rows, decoder.classes.channel, classes),
  };
}

function takeChannels({ data, rows, rowStride, channelStride }: OutputRows, first: number, count: number): Tensor<'float32'> {
  const taken = new Float32Array(rows * count);
  for (let row = 0, at = 0; row < rows; row++)
    for (let channel = first; channel < first + count; channel++) taken[at++] = data[row * rowStride + channel * channelStride] ?? 0;
  return makeTensor('float32', [rows, count], taken);
}
