/** How are run lengths written in COCO JSON? As text: each the difference to the one two before, in signed groups of five bits. */
import { DetectionError } from './detection-error.js';
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
  const counts: number[] = [];
  for (let position = 0; position < text.length; ) {
    const { value, next } = decodeSigned(text, position);
    const count = counts.length > 2 ? value + (counts[counts.length - 2] as number) : value;
    if (count < 0) throw bad(`run ${counts.length} has the length ${count}`);
    counts.push(count);
    position = next;
  }
  return makeRle(height, width, counts);
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

function decodeSigned(text: string, start: number): { readonly value: number; readonly next: number } {
  let value = 0;
  for (let index = 0; index < MOST_GROUPS; index++) {
    const code = text.charCodeAt(start + index) - FIRST_CHARACTER;
    if (Number.isNaN(code)) throw bad('it ends inside a number');
    if (code < 0 || code > 63) throw bad(`character ${start + index} is not one of the 64 it may have`);
    value += (code & 31) * 32 ** index;
    if (code < 32) return { value: (code & 16) === 0 ? value : value - 32 ** (index + 1), next: start + index + 1 };
  }
  throw bad(`the number at character ${start} is too long`);
}

function bad(reason: string): DetectionError {
  return new DetectionError('rle-text', `compressed run lengths are damaged: ${reason}`);
}
