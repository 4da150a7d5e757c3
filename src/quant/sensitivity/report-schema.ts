/** The form of the report of `sensitivity`, and its readers. */
import type { Json } from '../../base/json.js';
import { anyList, anyText, constant, integer, list, mapOf, number, object, text } from '../../base/schema/build-schema.js';
import { FIGURE_SCHEMA } from '../../base/schema/figure-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';
import { readerOf } from '../../base/schema/schema-reader.js';
import { type KeptDocument, parseKept } from '../integers/parse-kept.js';

/** The report of `sensitivity`, and what the stage keeps for it. */
export const SENSITIVITY_DOCUMENT: KeptDocument = { code: 'bad-sensitivity-report', what: 'costs of layers' };

const OUTPUT_ERROR = object({
  name: text('Name in the float model.'),
  noise: number({ minimum: 0 }, 'Sum of squared errors.'),
  sqnrDb: FIGURE_SCHEMA,
});

/** The error of one output. */
export type OutputError = FromSchema<typeof OUTPUT_ERROR>;

const LAYER = object(
  {
    values: list(text(), 'Values of the float model that share scale and zero point; usually one.'),
    nodes: anyList(object({ name: anyText(), opType: text() }), 'Nodes of the float model that compute them; none for an input.'),
    ownSqnrDb: FIGURE_SCHEMA,
    share: number({}, 'Of the errors of the outputs, to first order; all layers together have 1.'),
    shares: mapOf(number(), { description: 'Per output.' }),
  },
  {
    alone: object(
      {
        cost: number(
          { maximum: 1 },
          'Part of the errors of the outputs that vanishes when this layer alone is in float; negative if they grow.',
        ),
        outputs: anyList(OUTPUT_ERROR),
      },
      {},
    ),
  },
);

const REPORT = object({
  format: constant('tanren-sensitivity/1'),
  samples: integer(1),
  outputs: anyList(OUTPUT_ERROR, 'Of the quantized model.'),
  layers: anyList(LAYER, 'The most expensive first.'),
});

export type SensitivityReport = FromSchema<typeof REPORT>;
export type LayerSensitivity = FromSchema<typeof LAYER>;

const reader = readerOf(REPORT);
const outputsReader = readerOf(anyList(OUTPUT_ERROR));

/** @throws QuantError `bad-sensitivity-report`. */
export function parseSensitivityReport(json: Json): SensitivityReport {
  return parseKept(json, reader, SENSITIVITY_DOCUMENT);
}

/** @throws QuantError `bad-sensitivity-report`. */
export function parseOutputErrors(json: Json): readonly OutputError[] {
  return parseKept(json, outputsReader, SENSITIVITY_DOCUMENT);
}

/** The exact cost where it is known, else the share. */
export function costOf({ alone, share }: LayerSensitivity): number {
  return alone?.cost ?? share;
}
