/** How are run lengths written in COCO JSON? As text: each the difference to the one two before, in signed groups of five bits. */
import { DetectionError } from '../error/detection-error.js';
import { makeRle, type Rle } from './rle.js';

const FIRST_CHARACTER = 48;
/** Groups that a number of at most 2³² in magnitude, with its sign, can take. */
const MOST_GROUPS = 7;

/** The compressed `counts` of COCO JSON. */
export function encodeRleText({ counts }: Rle): string {
  let encoded = '';
  counts.forEach((count, index) => {
    encoded += encodeSigned(index > 2 ? count - (counts[index - 2] as number) : count);
  });
  return encoded;
}

/** @throws DetectionError `rle-text` where the text is no such encoding, `rle-size` where it holds more pixels than the mask. */
export function decodeRleText(text: string, height: number, width: number): Rle {
  const counts = new Float64Array(countNumbers(text));
  let position = 0;
  let empty = 0;
  let total = 0;
  for (let run = 0; run < counts.length; run++) {
    // A number is a chain of groups, of which the last lacks the bit of 32; the bit of 16 in it is the sign.
    let value = 0;
    let weight = 1;
    let group = 32;
    for (let groups = 0; group >= 32; groups++) {
      if (groups === MOST_GROUPS) throw bad(`the number before character ${position} is too long`);
      group = text.charCodeAt(position++) - FIRST_CHARACTER;
      value += (group & 31) * weight;
      weight *= 32;
    }
    if ((group & 16) !== 0) value -= weight;
    const count = run > 2 ? value + (counts[run - 2] as number) : value;
    if (count < 0) throw bad(`run ${run} has the length ${count}`);
    counts[run] = count;
    total += count;
    if (count === 0 && run > 0) empty++;
  }
  if (empty === 0 && total === height * width && counts.length > 0) return { height, width, counts: Uint32Array.from(counts) };
  return makeRle(height, width, counts);
}

/** How many numbers a text holds; each of its characters is looked at. */
function countNumbers(text: string): number {
  let numbers = 0;
  let group = 0;
  for (let i = 0; i < text.length; i++) {
    group = text.charCodeAt(i) - FIRST_CHARACTER;
    if (group < 0 || group > 63) throw bad(`character ${i} is not one of the 64 it may have`);
    if (group < 32) numbers++;
  }
  if (group >= 32) throw bad('it ends inside a number');
  return numbers;
}

function encodeSigned(value: number): string {
  let encoded = '';
  for (let rest = value, more = true; more; ) {
    const group = rest & 31;
    rest = Math.floor(rest / 32);
    more = (group & 16) === 0 ? rest !== 0 : rest !== -1;
    encoded += String.fromCharCode(FIRST_CHARACTER + (more ? group | 32 : group));
  }
  return encoded;
}

function bad(reason: string): DetectionError {
  return new DetectionError('rle-text', `compressed run lengths are damaged: ${reason}`);
}
