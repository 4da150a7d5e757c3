/** What is a worker given? One document: the plugin, its params, and paths relative to the run folder. */
import { join } from 'node:path';
import type { Digest } from '../../../base/digest.js';
import type { JsonObject } from '../../../base/json.js';
import type { BuildSummary } from '../../../stage/build-summary.js';
import type { InputPaths } from '../../../stage/define-stage.js';
import type { LoadRule } from './load-rule.js';

export interface ActionDocument {
  readonly format: 1;
  readonly plugin: string;
  /** Absolute path of the plugin's module on this machine. */
  readonly modulePath: string;
  /** What it may load: only of a third party's plugin. */
  readonly modules?: LoadRule;
  /** Seeds the stage's random numbers. */
  readonly key: string;
  readonly params: JsonObject;
  readonly inputs: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly outputs: Readonly<Record<string, string>>;
  /** Names of the declared environment variables. */
  readonly env: readonly string[];
  /** Names of those among them whose values are masked in what programs write. */
  readonly secrets: readonly string[];
  /** Files of the programs that the stage declares, by the names that it gives them. */
  readonly tools: Readonly<Record<string, string>>;
  /** Only where the plugin needs it. */
  readonly build?: BuildSummary;
  /** Digests of single files among the inputs that are known, by path, as long as the stamps are these. */
  readonly known: Readonly<Record<string, { readonly stamp: string; readonly digest: Digest }>>;
}

export const RUN_LAYOUT = {
  action: 'action.json',
  inputs: 'inputs',
  outputs: 'outputs',
  scratch: 'scratch',
  parts: 'parts',
  copies: 'copies',
} as const;

/** The document's paths made absolute. */
export function absoluteInputs(folder: string, inputs: ActionDocument['inputs']): InputPaths {
  return Object.fromEntries(
    Object.entries(inputs).map(([port, path]) => [port, typeof path === 'string' ? join(folder, path) : absolutePaths(folder, path)]),
  );
}

export function absolutePaths(folder: string, paths: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(paths).map(([name, path]) => [name, join(folder, path)]));
}
