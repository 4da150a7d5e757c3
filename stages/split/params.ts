/** Params of `split`: cuts from a host recipe, from the structure of the model, or as listed. */
import type { FromSchema } from '../../src/base/schema/from-schema.js';
import type { ExportedFamily } from '../../src/detection/detector/exported-family.js';
import { EXPORTED_FAMILIES } from '../../src/detection/exported-families.js';

/** The families that have parts to cut. */
const SPLIT_FAMILIES: readonly ExportedFamily[] = EXPORTED_FAMILIES.filter(({ parts }) => parts.length > 1);

const NAMES = { type: 'array', items: { type: 'string', minLength: 1 }, minItems: 1, uniqueItems: true } as const;

export const SPLIT_PARAMS = {
  type: 'object',
  additionalProperties: false,
  properties: {
    recipe: {
      type: 'string',
      enum: SPLIT_FAMILIES.map(({ name }) => name),
      description: 'The detector family. Its host recipe names the parts.',
    },
    cuts: {
      type: 'string',
      enum: ['recipe', 'structure'],
      description:
        'With `recipe`. recipe (the default): cut at the values that the host recipe of `export` names. structure: find the parts of a whole detector, exported by another tool, by what its nodes do, and make the host recipe from the detector config.',
    },
    fit: {
      type: 'string',
      enum: ['static', 'torchvision'],
      description:
        'With `cuts: structure`: how images of other sizes are fitted to the input. static (the default): scaled to fit it, then padded. torchvision: scaled by minSize and maxSize, then padded; an image that becomes larger than the input is an error.',
    },
    between: {
      type: 'string',
      enum: ['host', 'models', 'pieces'],
      description:
        'With `cuts: structure`: what runs between the parts. host (the default): the host, as the recipe says. models: nodes of the model itself, extracted as three more models for a CPU (to_box, to_mask, rest). pieces: the former name of models, accepted with a warning.',
    },
    parts: {
      type: 'object',
      minProperties: 1,
      propertyNames: { pattern: '^[A-Za-z_][A-Za-z0-9_-]*$' },
      additionalProperties: {
        type: 'object',
        additionalProperties: false,
        required: ['inputs', 'outputs'],
        properties: {
          inputs: { ...NAMES, description: 'Names of the values that the part reads.' },
          outputs: { ...NAMES, description: 'Names of the values that it gives.' },
        },
      },
      description: 'Part → names of its input values and of its output values.',
    },
  },
} as const;

/** Exactly one of `recipe` and `parts` is given. */
export type SplitParams = FromSchema<typeof SPLIT_PARAMS>;

export type Cuts = NonNullable<SplitParams['cuts']>;

export function findFamily({ recipe }: Pick<SplitParams, 'recipe'>): ExportedFamily | undefined {
  return SPLIT_FAMILIES.find(({ name }) => name === recipe);
}

export function listStructureFamilies(): readonly string[] {
  return SPLIT_FAMILIES.filter(({ structureCut }) => structureCut !== undefined).map(({ name }) => name);
}

/** Whether the model's own nodes between the parts become models too. 'pieces' is the former name of 'models'. */
export function extractsCpuSubgraphs({ between }: Pick<SplitParams, 'between'>): boolean {
  return between === 'models' || between === 'pieces';
}
