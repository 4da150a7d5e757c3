/** The number that a word takes from an image and its place in the input. */
import { assertNever } from '../../base/assert-never.js';
import type { SizeWord } from './image-words.js';
import type { Placement } from './placement.js';

export function measureWord(word: SizeWord, { input, scaled, original, scaleX, scaleY }: Placement): number {
  switch (word) {
    case 'input-height':
      return input.height;
    case 'input-width':
      return input.width;
    case 'resized-height':
      return scaled.height;
    case 'resized-width':
      return scaled.width;
    case 'image-height':
      return original.height;
    case 'image-width':
      return original.width;
    case 'scale-y':
      return scaleY;
    case 'scale-x':
      return scaleX;
    default:
      return assertNever(word);
  }
}
