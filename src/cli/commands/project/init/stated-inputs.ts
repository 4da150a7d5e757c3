/** Values of inputs besides the image, as options give them. */
import type { ImageWord } from '../../../../detection/image/image-words.js';
import type { StatedInputs } from './model-facts.js';

export interface StatedInput {
  readonly name: string;
  readonly value: readonly (number | ImageWord)[];
}

/** Undefined if none is given. Of values for one input the last counts. */
export function statedInputs(given: readonly StatedInput[]): StatedInputs | undefined {
  if (given.length === 0) return undefined;
  return Object.fromEntries(
    given.map(({ name, value: [first = 0, ...others] }) => [name, others.length === 0 ? first : [first, ...others]]),
  );
}
