/** What the search of one block found: the document that a stage keeps per block. */
import type { Json } from '../../base/json.js';
import { anyList, constant, integer, list, number, object, text } from '../../base/schema/build-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';
import { readerOf } from '../../base/schema/schema-reader.js';
import { type KeptDocument, parseKept } from '../integers/parse-kept.js';
import { GUARD_SCHEMA } from '../recovery/output-guard.js';
import { RECOVERY_FIELDS } from '../recovery/recovery-report.js';
import { RANGE_OVERRIDE } from '../widening/widened-types.js';

export const SEARCHED_BLOCK = object({
  ends: list(text(), 'The values whose errors were measured.'),
  error: object(
    { before: number(), after: number() },
    {},
    'Sum over the ends of the squared error, relative to the sum of squares of the float value.',
  ),
  tensors: integer(0, 'Tensors whose range was searched.'),
  trials: integer(0, 'Ranges that were tried.'),
  overrides: anyList(RANGE_OVERRIDE),
});

export type SearchedBlock = FromSchema<typeof SEARCHED_BLOCK>;

const reader = readerOf(SEARCHED_BLOCK);

/** What `search-ranges` keeps. */
export const SEARCH_DOCUMENT: KeptDocument = { code: 'bad-range-search', what: 'search of ranges' };

/** @throws QuantError `bad-range-search`. */
export function parseSearchedBlock(json: Json): SearchedBlock {
  return parseKept(json, reader, SEARCH_DOCUMENT);
}

const RANGE_SEARCH = object(
  {
    format: constant('tanren-range-search/1'),
    samples: integer(0),
    changed: integer(0, 'Number of ranges.'),
    trials: integer(0, 'Ranges that were tried.'),
    outputs: RECOVERY_FIELDS.outputs,
    blocks: anyList(SEARCHED_BLOCK),
    skipped: anyList(
      text(),
      'Tensors whose ranges stay: several blocks read or compute them, or they take the parameters of a constant table.',
    ),
  },
  { guard: GUARD_SCHEMA },
);

/** The report of `search-ranges`. */
export type RangeSearchReport = FromSchema<typeof RANGE_SEARCH>;
