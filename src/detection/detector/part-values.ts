/** Where is a part of a detector cut out of the whole? Between named values; and their readers in a recipe. */
import { fields, list, text } from '../../base/json-shape.js';

/** Names of values. */
export interface PartValues {
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
}

const names = list(text());

export const partValuesReader = fields<PartValues>({ inputs: names, outputs: names });
