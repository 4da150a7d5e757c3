/** The kinds of numbers in the output that a grid decoder reads, as tensors of their own: boxes hide errors of scores that are hundreds of times smaller. */
import { makeTensor, type Tensor } from '../../../../tensor/tensor.js';
import { listBatch } from '../../../data/image-feeds.js';
import type { PartValuesByName } from '../../../detector/part-runner.js';
import { countChannels } from './decode-grid.js';
import type { Decoder } from './decoder.js';
import { type OutputRows, readRows } from './output-rows.js';

/**
 * Boxes, objectness and classes as [rows, channels], by `OUTPUT/kind`, with the rows of all images of a batch. Other decoders read every kind from an output of
 * its own.
 * @throws DetectionError `decoder-shape`, `batch-rows`.
 */
export function splitDecoded(
  decoder: Decoder,
  outputs: PartValuesByName,
  { classes, batch }: { readonly classes: number; readonly batch: number },
): PartValuesByName {
  if (decoder.kind !== 'grid') return {};
  const { output, boxes, objectness } = decoder;
  const whole = outputs[output];
  if (whole === undefined) return {};
  const images = listBatch(output, whole, batch);
  const rows = images.map(image => readRows({ [output]: image }, output, countChannels(decoder, classes)));
  return {
    [`${output}/boxes`]: takeChannels(rows, boxes.channel, 4),
    ...(objectness === undefined ? {} : { [`${output}/objectness`]: takeChannels(rows, objectness.channel, 1) }),
    [`${output}/classes`]: takeChannels(rows, decoder.classes.channel, classes),
  };
}

function takeChannels(images: readonly OutputRows[], first: number, count: number): Tensor<'float32'> {
  const total = images.reduce((sum, { rows }) => sum + rows, 0);
  const taken = new Float32Array(total * count);
  let at = 0;
  for (const { data, rows, rowStride, channelStride } of images)
    for (let row = 0; row < rows; row++)
      for (let channel = first; channel < first + count; channel++) taken[at++] = data[row * rowStride + channel * channelStride] ?? 0;
  return makeTensor('float32', [total, count], taken);
}
