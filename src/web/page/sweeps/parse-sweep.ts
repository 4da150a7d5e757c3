/** Reads the rows of a sweep, of any version. */
import { formatJsonProblems, readJsonShape } from '../../../base/json/json-shape.js';
import type { Json } from '../../../base/json.js';
import { readerOf } from '../../../base/schema/schema-reader.js';
import { SWEEP_DOCUMENT, type SweepDocument } from '../../../report/sweep-document.js';
import { ApiError } from '../api/client.js';

const reader = readerOf(SWEEP_DOCUMENT);

/** @throws ApiError `report-input`. */
export function parseSweep(json: Json): SweepDocument {
  const read = readJsonShape(reader, json);
  if (read.kind === 'ok') return read.value;
  throw new ApiError(
    0,
    'report-input',
    `invalid rows of a sweep: ${formatJsonProblems(read.problems).slice(0, 5).join('; ')}`,
    'start the sweep again',
  );
}
