/** The form of a bound on the accumulator sums of one layer, as reports have it. */
import { flag, number, object, text } from '../../base/schema/build-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';

export const ACCUMULATOR_SCHEMA = object(
  {
    node: text("The node's name, or the name of its first output if it has none."),
    opType: text(),
    exactInFloat: flag('Whether float32 arithmetic gives exact sums: every scale is a power of two, and the bound is below 2²⁴.'),
  },
  {
    bound: number({ minimum: 0 }, 'Maximum over the output channels. Absent if an operand is float or not constant.'),
    unit: number(
      { exclusiveMinimum: 0 },
      'Real value of one unit in the widest channel: input scale · weight scale, or the bias scale if that is smaller.',
    ),
    reason: text('Why there is no bound, or why float32 may round.'),
  },
);

/**
 * The largest magnitude that any partial sum of the node can reach, for every input and every order of addition, in units of `unit`.
 * It is the larger of the sum of the positive contributions and the sum of the negative ones, after subtracting zero points, including the bias.
 */
export type AccumulatorBound = FromSchema<typeof ACCUMULATOR_SCHEMA>;
