/** Decoder of one output with a row per object that the network selected: box, score, class number. */
import { formatShape } from '../../../../tensor/shape.js';
import type { PartValuesByName } from '../../../detector/part-runner.js';
import { DetectionError } from '../../../error/detection-error.js';
import type { Candidates, DecodeContext } from './candidates.js';
import type { SelectedDecoder } from './decoder.js';
import { getOutput } from './output-rows.js';

/**
 * Rows at or below the threshold are omitted: networks fill the output up with rows of any class.
 * @throws DetectionError `decoder-shape`, `part-values`; `decoder-result` where a class is not in the recipe.
 */
export function decodeSelected(values: PartValuesByName, decoder: SelectedDecoder, context: DecodeContext): Candidates {
  const { dims, data } = getOutput(values, decoder.output);
  const [rows = 0, channels = 0] = dims.slice(-2);
  const least = Math.max(decoder.box + 4, decoder.score + 1, decoder.class + 1);
  if (!(dims.length === 2 || (dims.length === 3 && dims[0] === 1)) || channels < least)
    throw new DetectionError(
      'decoder-shape',
      `output "${decoder.output}" is ${formatShape(dims)}; the decoder expects [1, objects, ${least} or more] or [objects, ${least} or more]`,
    );
  const threshold = Math.fround(context.scoreThreshold);
  const at = (row: number, channel: number): number => data[row * channels + channel] as number;
  const found = Array.from({ length: rows }, (_, row) => row).filter(row => at(row, decoder.score) > threshold);
  const classes = Int32Array.from(found, row => at(row, decoder.class));
  const odd = found.find(
    row => !(Number.isInteger(at(row, decoder.class)) && at(row, decoder.class) >= 0 && at(row, decoder.class) < context.classes),
  );
  if (odd !== undefined)
    throw new DetectionError(
      'decoder-result',
      `output "${decoder.output}" has class ${at(odd, decoder.class)}; the recipe has ${context.classes} categories, counted from 0`,
      { help: 'check `categories` and the channels `score` and `class`' },
    );
  return {
    boxes: Float32Array.from(found.flatMap(row => [0, 1, 2, 3].map(side => at(row, decoder.box + side)))),
    scores: Float32Array.from(found, row => at(row, decoder.score)),
    classes,
  };
}
