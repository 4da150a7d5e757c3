/** What can be said to `split`? Where to cut: as a recipe says, or as listed. */
import type { PartValues } from '../../src/detection/recipe.js';
import type { ParamsSchema } from '../../src/stage/define-stage.js';

/** Exactly one of the two is given. */
export interface SplitParams {
  readonly recipe?: 'maskrcnn';
  readonly parts?: Readonly<Record<string, PartValues>>;
}

const NAMES = { type: 'array', items: { type: 'string', minLength: 1 }, minItems: 1, uniqueItems: true } as const;

export const SPLIT_PARAMS: ParamsSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    recipe: { type: 'string', enum: ['maskrcnn'], description: "The detector's family: the parts are those that its recipe names." },
    parts: {
      type: 'object',
      minProperties: 1,
      propertyNames: { pattern: '^[A-Za-z_][A-Za-z0-9_-]*$' },
      additionalProperties: {
        type: 'object',
        additionalProperties: false,
        required: ['inputs', 'outputs'],
        properties: { inputs: NAMES, outputs: NAMES },
      },
      description: 'Part → the values that it starts from and the values that it gives.',
    },
  },
};
