/** Documents that a stage keeps per layer, read by their schemas. */

import { formatJsonProblems, type JsonReader, readJsonShape } from '../../base/json/json-shape.js';
import type { Json } from '../../base/json.js';
import { QuantError } from './quant-error.js';

export interface KeptDocument {
  /** Error code of a document that does not match its schema. */
  readonly code: 'bad-correction' | 'bad-range-search' | 'bad-rounding' | 'bad-sensitivity-report';
  /** Such as "corrections of biases", for the message. */
  readonly what: string;
}

/** @throws QuantError with the code of `document`. */
export function parseKept<T>(json: Json, reader: JsonReader<T>, { code, what }: KeptDocument): T {
  const read = readJsonShape(reader, json);
  if (read.kind === 'ok') return read.value;
  const details = formatJsonProblems(read.problems);
  throw new QuantError(code, `invalid ${what}: ${details.join('; ')}`, { details, help: 'build the stage again with `--force`' });
}
