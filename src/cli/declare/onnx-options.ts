/** Options that several commands on ONNX files share. */
import { InvalidArgumentError } from 'commander';
import type { PinnedDim } from '../../onnx/surgery/pin-shapes.js';
import { choice, named, optional, value } from './option.js';
import { parseInteger, parseNumber, parseSize, parseText } from './values.js';

/** "images=1x3x?x?" → ["images", [1, 3, "free", "free"]]. */
function parseShape(text: string): readonly [input: string, shape: readonly PinnedDim[]] {
  const [, input, sizes = ''] = /^(.+)=((?:[1-9]\d{0,8}|\?)(?:x(?:[1-9]\d{0,8}|\?))*)$/.exec(text) ?? [];
  if (input === undefined) throw new InvalidArgumentError('Expected input=shape, for example images=1x3x224x224; ? keeps a dim dynamic.');
  return [input, sizes.split('x').map((size): PinnedDim => (size === '?' ? 'free' : Number(size)))];
}

/** 0 means none. */
export const parseCountOrNone = parseInteger(0);

const parseTolerance = parseNumber('a number of at least 0, for example 1e-4', 0);

export const DIM = named('--dim <name=size>', 'size of a dynamic dim of the inputs', parseSize('batch=1'));

/** The sizes of dynamic dims. */
export const PINS = {
  dim: DIM,
  shape: named('--shape <input=shape>', 'shape of an input, for example images=1x3x224x224', parseShape),
};

export const weights = choice(
  '--weights <where>',
  'where weights are written: inside the file, outside in OUT.data, or the same as in the input',
  ['same', 'inside', 'outside'],
  'same',
);

export const data = optional('--data <path>', 'inputs: a .npz or .npy file or a folder of tensors (default: random)', parseText);

export const samples = (description: string, count: number) =>
  value('--samples <n>', description, parseCountOrNone, { value: count, shown: `${count}` });

export const tolerance = (description: string, share: number) =>
  value('--tolerance <share>', description, parseTolerance, { value: share, shown: `${share}` });
