/** The part of a host recipe that all detector families share. */
import { constant, mapOf, openObject, text } from '../../base/schema/build-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';
import { PART_VALUES_SCHEMA } from './part-values.js';

/** Fields that identify the format. */
export const RECIPE_FORMAT = { format: constant('tanren-recipe'), version: constant(1) } as const;

const HOST_RECIPE_SCHEMA = openObject({
  ...RECIPE_FORMAT,
  architecture: text('Name of the detector family.'),
  parts: mapOf(PART_VALUES_SCHEMA, { description: 'Value names per part, all in the name space of one model.' }),
});

/** How the host joins the parts of a detector. Each detector family adds its own fields. */
export type HostRecipe = FromSchema<typeof HOST_RECIPE_SCHEMA>;
