/** Params of `split`: cuts from a host recipe, from the structure of the model, or as listed. */
import type { FromSchema } from '../../src/base/schema/from-schema.js';
import type { ExportedFamily } from '../../src/detection/detector/exported-family.js';
import { EXPORTED_FAMILIES } from '../../src/detection/exported-families.js';
import type { StaticCutOptions } from '../../src/onnx/surgery/static-part-names.js';

/** The families that have parts to cut. */
const SPLIT_FAMILIES: readonly ExportedFamily[] = EXPORTED_FAMILIES.filter(({ parts }) => parts.length > 1);

const NAMES = { type: 'array', items: { type: 'string', minLength: 1 }, minItems: 1, uniqueItems: true } as const;

const PART_NAME = '^[A-Za-z_][A-Za-z0-9_-]*$';

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
      enum: ['recipe', 'structure', 'static'],
      description:
        'recipe (the default with `recipe`): cut at the values that the host recipe of `export` names. structure: with `recipe`, find the parts of a whole detector, exported by another tool, by what its nodes do, and make the host recipe from the detector config. static: any whole detector in one graph; the layers whose sizes are known become the part `network`, and what follows them the part `rest`.',
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
    heads: {
      ...NAMES,
      items: { type: 'string', pattern: PART_NAME },
      description:
        'With `cuts: static`: names for the heads that run on RoIs, in the order in which they run. Each head becomes a part, and so does what runs before it (`to_NAME`). Heads without a name stay in `rest`.',
    },
    prepare: {
      type: 'string',
      enum: ['drop', 'model'],
      description:
        'With `cuts: static`: the nodes before the first layer, such as normalization. drop (the default): they are in no part, and the host prepares images. model: they become the part `prepare`.',
    },
    parts: {
      type: 'object',
      minProperties: 1,
      propertyNames: { pattern: PART_NAME },
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

/** Exactly one of `recipe`, `parts` and `cuts: static` is given. */
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

/** The settings of `cuts: static`. */
export function readStaticCut({ heads = [], prepare = 'drop' }: Pick<SplitParams, 'heads' | 'prepare'>): StaticCutOptions {
  return { heads, prepare };
}
