/** Makes the report of `sensitivity`: the cost of every quantized layer, the most expensive first. */
import { type Comparison, figuresOf } from '../../tensor/compare.js';
import { QuantError } from '../integers/quant-error.js';
import { toDb } from '../weights/weights.js';
import type { LayerShares } from './error-shares.js';
import { costOf, type LayerSensitivity, type OutputError, type SensitivityReport } from './report-schema.js';

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

/** Mean, over the outputs with an error, of the part of it that is removed. */
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
