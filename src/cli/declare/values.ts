/** Parsers of option values. Each throws InvalidArgumentError with the expected form. */

import { InvalidArgumentError } from 'commander';
import { IMAGE_WORDS, type ImageWord } from '../../detection/image/image-words.js';

export function parseText(text: string): string {
  return text;
}

/** A whole number from `least`. */
export function parseInteger(least: number): (text: string) => number {
  return text => {
    const count = Number(text);
    if (!/^\d+$/.test(text) || !Number.isSafeInteger(count) || count < least)
      throw new InvalidArgumentError(`Expected a whole number of at least ${least}.`);
    return count;
  };
}

export const parseCount = parseInteger(1);

/** A finite number within bounds. @param expected describes the bounds in the error message. */
export function parseNumber(expected: string, low = Number.NEGATIVE_INFINITY, high = Number.POSITIVE_INFINITY): (text: string) => number {
  return text => {
    const number = Number(text);
    if (text.trim() === '' || !Number.isFinite(number) || number < low || number > high)
      throw new InvalidArgumentError(`Expected ${expected}.`);
    return number;
  };
}

/** A value that `parse` reads. @param expected describes valid values in the error message if `parse` returns undefined. */
export function parseWith(parse: (text: string) => number | undefined, expected: string): (text: string) => number {
  return text => {
    const found = parse(text);
    if (found === undefined) throw new InvalidArgumentError(`Expected ${expected}.`);
    return found;
  };
}

/** A day of the calendar such as "2026-11-23". */
export function parseDay(text: string): string {
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)) && new Date(text).toISOString().startsWith(text);
  if (!isDay) throw new InvalidArgumentError('Expected a day such as 2026-11-23.');
  return text;
}

/** "batch=1" → ["batch", 1]. @param example a valid value, for the error message. */
export function parseSize(example: string): (text: string) => readonly [name: string, size: number] {
  return text => {
    const [, name, size] = /^([^=]+)=([1-9]\d{0,8})$/.exec(text) ?? [];
    if (name === undefined) throw new InvalidArgumentError(`Expected name=size, for example ${example}.`);
    return [name, Number(size)];
  };
}

/** Larger images would not fit in memory as tensors. */
const MOST_SIDE = 16_384;
const MOST_PIXELS = 100_000_000;

/** "224x320" → a height of 224 and a width of 320. */
export interface StatedInput {
  readonly name: string;
  readonly value: readonly (number | ImageWord)[];
}

/** "scale_factor=1,1" or "im_shape=input-height,input-width". */
export function parseInput(text: string): StatedInput {
  const at = text.lastIndexOf('=');
  const value = text
    .slice(at + 1)
    .split(',')
    .map(parseInputValue);
  if (at < 1) throw new InvalidArgumentError('Expected name=value, for example scale_factor=1,1.');
  return { name: text.slice(0, at), value };
}

function parseInputValue(text: string): number | ImageWord {
  const word = IMAGE_WORDS.find(one => one === text);
  if (word !== undefined) return word;
  const number = text.trim() === '' ? Number.NaN : Number(text);
  if (Number.isFinite(number)) return number;
  throw new InvalidArgumentError(`Expected numbers or ${IMAGE_WORDS.join(', ')}, separated by commas.`);
}

export function parseSides(text: string): { readonly height: number; readonly width: number } {
  const [height = 0, width = 0] = /^([1-9]\d{0,4})x([1-9]\d{0,4})$/.exec(text)?.slice(1).map(Number) ?? [];
  if (height === 0) throw new InvalidArgumentError('Expected height and width, for example 224x320.');
  if (Math.max(height, width) > MOST_SIDE || height * width > MOST_PIXELS)
    throw new InvalidArgumentError(`Expected sides of at most ${MOST_SIDE}, and at most ${MOST_PIXELS / 1e6} million pixels.`);
  return { height, width };
}
