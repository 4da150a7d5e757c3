/** The kinds of numbers in a model's outputs, as the recipe of a detector reads them, in place of the outputs that hold several. */
import { readFile } from 'node:fs/promises';
import { parseJson } from '../base/json.js';
import type { PartValuesByName } from './detector/part-runner.js';
import { readDefinition } from './read-definition.js';

/** @param paths the recipe and its config; without a recipe, outputs stay as they are. @throws DetectionError `bad-recipe`, `bad-config`, `config-mismatch`; the function `decoder-shape`. */
export async function openOutputKinds(paths: {
  readonly recipe?: string;
  readonly config?: string;
}): Promise<(outputs: PartValuesByName) => PartValuesByName> {
  if (paths.recipe === undefined) return outputs => outputs;
  const read = async (path: string) => parseJson(await readFile(path, 'utf8')) ?? null;
  const recipe = await read(paths.recipe);
  const { splitKinds } = readDefinition({ recipe, ...(paths.config === undefined ? {} : { config: await read(paths.config) }) });
  return outputs => {
    const kinds = splitKinds(outputs);
    const split = new Set(Object.keys(kinds).map(kind => kind.slice(0, kind.lastIndexOf('/'))));
    return { ...Object.fromEntries(Object.entries(outputs).filter(([name]) => !split.has(name))), ...kinds };
  };
}
