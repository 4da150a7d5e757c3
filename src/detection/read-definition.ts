/** Parses host recipes and detector definitions of all registered families. */

import { fields, formatJsonProblems, type JsonProblem, type JsonReader, literal, readJsonShape } from '../base/json/json-shape.js';
import { isJsonObject, type Json, type JsonObject } from '../base/json.js';
import type { DefinitionFiles, DetectorDefinition, DetectorFamily, ReadRecipe } from './detector/detector-family.js';
import type { HostRecipe } from './detector/host-recipe.js';
import { DetectionError } from './error/detection-error.js';
import { DETECTOR_FAMILIES } from './registry.js';
import { type TilesByPart, tilesReader } from './tiles/part-tiles.js';

/** Parses a host recipe's JSON, without its tiles. @throws DetectionError `bad-recipe` with every missing, unknown and wrong field. */
export function parseRecipe(value: Json): HostRecipe {
  return readRecipe(value).read.recipe;
}

/** @throws DetectionError `bad-recipe`, `bad-config`, `config-mismatch`. */
export function readDefinition({ recipe, config, fit }: DefinitionFiles): DetectorDefinition {
  const { read, tiles } = readRecipe(recipe);
  const definition = read.define(config, fit);
  if (tiles === undefined) return { ...definition, tiles: {} };
  checkTiledParts(tiles, definition);
  const files: JsonObject = definition.files;
  return { ...definition, tiles, files: { ...files, recipe: { ...read.recipe, tiles } } };
}

interface ReadWithTiles {
  readonly read: ReadRecipe;
  readonly tiles: TilesByPart | undefined;
}

function readRecipe(value: Json): ReadWithTiles {
  const { tiles: given, ...rest } = isJsonObject(value) ? value : {};
  const family = findFamily(value);
  const read = family.kind === 'found' ? family.family.readRecipe(rest) : family;
  const tiles = given === undefined ? undefined : readJsonShape(atField('tiles', tilesReader), given);
  if (read.kind === 'ok' && tiles?.kind !== 'problems') return { read: read.value, tiles: tiles?.value };
  throw badRecipe([...(read.kind === 'problems' ? read.problems : []), ...(tiles?.kind === 'problems' ? tiles.problems : [])]);
}

function atField<T>(name: string, reader: JsonReader<T>): JsonReader<T> {
  return (value, _, problems) => reader(value, name, problems);
}

/** The host gives a part on tiles all of its RoIs at once. */
function checkTiledParts(tiles: TilesByPart, { parts }: Pick<DetectorDefinition, 'parts'>): void {
  const problems = Object.keys(tiles).flatMap((name): JsonProblem[] => {
    const part = parts.find(one => one.name === name);
    if (part?.rois === 'free') return [];
    const message =
      part === undefined
        ? 'is not a part of the recipe'
        : part.rois === 'none'
          ? 'runs once per image, not on RoIs'
          : `has batches of ${part.rois} RoIs in the recipe, expected a free batch`;
    return [{ path: `tiles.${name}`, message }];
  });
  if (problems.length > 0) throw badRecipe(problems);
}

function badRecipe(problems: readonly JsonProblem[]): DetectionError {
  const lines = formatJsonProblems(problems);
  return new DetectionError('bad-recipe', `host recipe: ${lines.join('; ')}`, {
    details: lines,
    help: 'host recipes are written by `export`, `split`, `describe` and `tile-rois`: run that stage again with this version of Tanren',
  });
}

const anyObject = fields<object>({});

type FoundFamily =
  | { readonly kind: 'found'; readonly family: DetectorFamily }
  | { readonly kind: 'problems'; readonly problems: readonly JsonProblem[] };

function findFamily(value: Json): FoundFamily {
  const problems: JsonProblem[] = [];
  if (!isJsonObject(value)) {
    anyObject(value, '', problems);
    return { kind: 'problems', problems };
  }
  const name = literal(...DETECTOR_FAMILIES.map(family => family.name))(value.architecture, 'architecture', problems);
  const family = DETECTOR_FAMILIES.find(one => one.name === name);
  return family === undefined ? { kind: 'problems', problems } : { kind: 'found', family };
}
