/** Parses host recipes and detector definitions of all registered families. */
import { isJsonObject, type Json } from '../base/json.js';
import { fields, formatJsonProblems, type JsonProblem, literal } from '../base/json-shape.js';
import type { DefinitionFiles, DetectorDefinition, DetectorFamily, ReadRecipe } from './detector/detector-family.js';
import type { HostRecipe } from './detector/host-recipe.js';
import { DetectionError } from './error/detection-error.js';
import { DETECTOR_FAMILIES } from './registry.js';

/** Parses a host recipe's JSON. @throws DetectionError `bad-recipe` with every missing, unknown and wrong field. */
export function parseRecipe(value: Json): HostRecipe {
  return readRecipe(value).recipe;
}

/** @throws DetectionError `bad-recipe`, `bad-config`, `config-mismatch`. */
export function readDefinition({ recipe, config, fit }: DefinitionFiles): DetectorDefinition {
  return readRecipe(recipe).define(config, fit);
}

function readRecipe(value: Json): ReadRecipe {
  const family = findFamily(value);
  const read = family.kind === 'found' ? family.family.readRecipe(value) : family;
  if (read.kind === 'ok') return read.value;
  const lines = formatJsonProblems(read.problems);
  throw new DetectionError('bad-recipe', `host recipe: ${lines.join('; ')}`, {
    details: lines,
    help: 'host recipes are written by `export`, `split` and `describe`: run that stage again with this version of Tanren',
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
