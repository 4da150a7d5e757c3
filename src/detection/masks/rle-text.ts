/** The compressed text form of run lengths in COCO JSON: each run is its difference to the run two before, in groups of five bits. */
import { DetectionError } from '../error/detection-error.js';
import { makeRle, type Rle } from './rle.js';

const FIRST_CHARACTER = 48;
/** Number of groups of the largest signed number, 2³² in magnitude. */
const MOST_GROUPS = 7;

/** `counts` as compressed text. */
export function encodeRleText({ counts }: Rle): string {
  let encoded = '';
  counts.forEach((count, index) => {
    encoded += encodeSigned(index > 2 ? count - (counts[index - 2] as number) : count);
  });
  return encoded;
}

/** @throws DetectionError `rle-text` where the text is not such an encoding; `rle-size` where the runs exceed the mask. */
export function decodeRleText(text: string, height: number, width: number): Rle {
  const counts = new Float64Array(countNumbers(text));
  let position = 0;
  let empty = 0;
  let total = 0;
  for (let run = 0; run < counts.length; run++) {
    // In a number, all groups but the last have bit 32 set; bit 16 of the last group is the sign.
    let value = 0;
    let weight = 1;
    let group = 32;
    for (let groups = 0; group >= 32; groups++) {
      if (groups === MOST_GROUPS) throw bad(`the number that ends at character ${position} has more than ${MOST_GROUPS} characters`);
      group = text.charCodeAt(position++) - FIRST_CHARACTER;
      value += (group & 31) * weight;
      weight *= 32;
    }
    if ((group & 16) !== 0) value -= weight;
    const count = run > 2 ? value + (counts[run - 2] as number) : value;
    if (count < 0) throw bad(`run ${run} has the negative length ${count}`);
    counts[run] = count;
    total += count;
    if (count === 0 && run > 0) empty++;
  }
  if (empty === 0 && total === height * width && counts.length > 0) return { height, width, counts: Uint32Array.from(counts) };
  return makeRle(height, width, counts);
}

/** Number of numbers in a text. Checks every character. */
function countNumbers(text: string): number {
  let numbers = 0;
  let group = 0;
  for (let i = 0; i < text.length; i++) {
    group = text.charCodeAt(i) - FIRST_CHARACTER;
    if (group < 0 || group > 63) throw bad(`character ${i} is not one of the 64 allowed characters`);
    if (group < 32) numbers++;
  }
  if (group >= 32) throw bad('the text ends inside a number');
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
  return new DetectionError('rle-text', `invalid compressed run lengths: ${reason}`);
}
