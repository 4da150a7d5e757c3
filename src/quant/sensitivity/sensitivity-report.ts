/** The report of `sensitivity`: the cost of every quantized layer, the most expensive first. */
import type { Json } from '../../base/json.js';
import { anyList, anyText, constant, integer, list, mapOf, number, object, text } from '../../base/schema/build-schema.js';
import { FIGURE_SCHEMA } from '../../base/schema/figure-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';
import { readerOf } from '../../base/schema/schema-reader.js';
import { type Comparison, figuresOf } from '../../tensor/compare.js';
import { parseKept } from '../integers/parse-kept.js';
import { QuantError } from '../integers/quant-error.js';
import { toDb } from '../weights/weights.js';
import { SENSITIVITY_DOCUMENT } from './error-flow.js';
import type { LayerShares } from './error-shares.js';

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

/** @throws QuantError `not-finite`. */
export function describeOutputErrors(errors: ReadonlyMap<string, Comparison>): readonly OutputError[] {
  return [...errors].map(([name, error]) => {
    if (error.broken > 0 || !Number.isFinite(error.errorSquares)) {
      throw new QuantError('not-finite', `output "${name}" has NaN or infinite elements in one of the models`, {
        help: 'look for a division by zero or an overflow before it',
      });
    }
    return { name, noise: error.errorSquares, sqnrDb: figuresOf(error).sqnrDb };
  });
}

/** @param alone the errors of the outputs with one layer in float, by its first value. */
export function reportSensitivity(
  samples: number,
  outputs: readonly OutputError[],
  layers: readonly LayerShares[],
  alone: ReadonlyMap<string, readonly OutputError[]>,
): SensitivityReport {
  const described = layers.map(({ layer, signal, own, shares, cost }): LayerSensitivity => {
    const exact = alone.get(layer.names[0] ?? '');
    return {
      values: [...layer.names],
      nodes: layer.nodes.map(({ name, opType }) => ({ name, opType })),
      ownSqnrDb: own === 0 ? 'equal' : limited(toDb(signal, own)),
      share: cost,
      shares,
      ...(exact === undefined ? {} : { alone: { cost: vanishing(outputs, exact), outputs: [...exact] } }),
    };
  });
  return { format: 'tanren-sensitivity/1', samples, outputs: [...outputs], layers: described.sort((a, b) => costOf(b) - costOf(a)) };
}

/** The exact cost where it is known, else the share. */
export function costOf({ alone, share }: LayerSensitivity): number {
  return alone?.cost ?? share;
}

/** Mean, over the outputs with an error, of the part of it that is gone. */
export function vanishing(before: readonly OutputError[], after: readonly OutputError[]): number {
  const parts = before.flatMap(({ name, noise }) => {
    const left = after.find(output => output.name === name);
    return noise === 0 || left === undefined ? [] : [1 - left.noise / noise];
  });
  return parts.length === 0 ? 0 : parts.reduce((sum, part) => sum + part, 0) / parts.length;
}

/** JSON has no infinity: an error without signal has the lowest figure of comparisons. */
function limited(db: number): number {
  return Math.max(-998, Math.min(998, db));
}
