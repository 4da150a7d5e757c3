/** What can be said to `split`? Where to cut: as a recipe says, by what the nodes do, or as listed. */
import type { PartValues } from '../../src/detection/detector/part-values.js';
import type { FitPolicy } from '../../src/detection/families/maskrcnn/recipe.js';
import type { ParamsSchema } from '../../src/stage/define-stage.js';

/** Exactly one of `recipe` and `parts` is given. */
export interface SplitParams {
  readonly recipe?: 'maskrcnn' | 'maskscoring';
  /** With `recipe`: where the cuts come from. */
  readonly cuts?: Cuts;
  /** With `cuts: structure`: what the recipe that is made says of fitting images. */
  readonly fit?: FitPolicy;
  /** With `cuts: structure`: who works between the parts. */
  readonly between?: 'host' | 'pieces';
  readonly parts?: Readonly<Record<string, PartValues>>;
}

/** 'recipe': the names in the recipe that `export` wrote. 'structure': what the nodes of a foreign model do; a recipe is made. */
export type Cuts = 'recipe' | 'structure';

const NAMES = { type: 'array', items: { type: 'string', minLength: 1 }, minItems: 1, uniqueItems: true } as const;

export const SPLIT_PARAMS: ParamsSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    recipe: {
      type: 'string',
      enum: ['maskrcnn', 'maskscoring'],
      description: "The detector's family: the parts are those that its recipe names.",
    },
    cuts: {
      type: 'string',
      enum: ['recipe', 'structure'],
      description:
        'With `recipe`. recipe (the default): cut at the values that the recipe of `export` names. structure: find the parts in the whole detector, as another tool exported it, by what its nodes do, and make the recipe from the detector config.',
    },
    fit: {
      type: 'string',
      enum: ['static', 'torchvision'],
      description:
        'With `cuts: structure`: how images of other sizes are fitted to the input. static (the default): scaled to fit it, then padded. torchvision: by minSize and maxSize, then padded; an image that becomes larger than the input is an error.',
    },
    between: {
      type: 'string',
      enum: ['host', 'pieces'],
      description:
        'With `cuts: structure`: who works between the parts. host (the default): whoever follows the recipe. pieces: the model’s own nodes, as three more models (to_box, to_mask, rest) for a CPU.',
    },
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
