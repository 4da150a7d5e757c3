/** Definitions of detectors of which some parts run without their tiles. */
import { isJsonObject, type JsonObject } from '../base/json.js';
import type { DetectorDefinition } from './detector/detector-family.js';

/** The definition whose `parts` run without tiles. @param parts names of parts; those without tiles stay as they are. */
export function withoutTiles(definition: DetectorDefinition, parts: ReadonlySet<string>): DetectorDefinition {
  const left = Object.entries(definition.tiles).filter(([part]) => !parts.has(part));
  if (left.length === Object.keys(definition.tiles).length) return definition;
  const tiles = Object.fromEntries(left);
  const files: JsonObject = definition.files;
  const { tiles: _tiles, ...recipe } = isJsonObject(definition.files.recipe) ? definition.files.recipe : {};
  return { ...definition, tiles, files: { ...files, recipe: left.length === 0 ? recipe : { ...recipe, tiles } } };
}
