/** The part of a host recipe that all detector families share. */
import type { JsonObject } from '../../base/json.js';
import type { PartValues } from './part-values.js';

/** How the host joins the parts of a detector. Each detector family adds its own fields. */
export interface HostRecipe {
  readonly format: 'tanren-recipe';
  readonly version: 1;
  /** Name of the detector family. */
  readonly architecture: string;
  /** Value names per part, all in the name space of one model. */
  readonly parts: Readonly<Record<string, PartValues>>;
}

/** The recipe as JSON, for writing. */
export function encodeRecipe(recipe: HostRecipe): JsonObject {
  return recipe as unknown as JsonObject;
}
