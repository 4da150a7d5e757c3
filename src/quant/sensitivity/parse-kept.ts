/** Documents about the costs of layers, read by their schemas. */
import type { Json } from '../../base/json.js';
import { formatJsonProblems, type JsonReader, readJsonShape } from '../../base/json-shape.js';
import { QuantError } from '../integers/quant-error.js';

/** @throws QuantError `bad-sensitivity-report`. */
export function parseKept<T>(json: Json, shape: JsonReader<T>): T {
  const read = readJsonShape(shape, json);
  if (read.kind === 'ok') return read.value;
  const details = formatJsonProblems(read.problems);
  throw new QuantError('bad-sensitivity-report', `invalid costs of layers: ${details.join('; ')}`, {
    details,
    help: 'build the stage again with `--force`',
  });
}
