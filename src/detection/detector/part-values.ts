/** The input and output values that delimit a part of a detector, and their reader. */
import { fields, list, text } from '../../base/json-shape.js';

/** Value names. */
export interface PartValues {
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
}

const names = list(text());

export const partValuesReader = fields<PartValues>({ inputs: names, outputs: names });
