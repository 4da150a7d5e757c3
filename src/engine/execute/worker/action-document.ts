/** The two documents that a worker is given: the action, equal on every machine, and where its code stands on this one. */
import { join } from 'node:path';
import type { Digest } from '../../../base/digest.js';
import type { JsonObject } from '../../../base/json.js';
import type { BuildSummary } from '../../../stage/build-summary.js';
import type { InputPaths } from '../../../stage/define-stage.js';
import type { LoadRule } from './load-rule.js';

/** Its paths are relative to the run folder. */
export interface ActionDocument {
  readonly format: 1;
  readonly plugin: string;
  /** Seeds the stage's random numbers. */
  readonly key: string;
  readonly params: JsonObject;
  readonly inputs: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly outputs: Readonly<Record<string, string>>;
  /** Names of the declared environment variables. */
  readonly env: readonly string[];
  /** Names of those among them whose values are masked in what programs write. */
  readonly secrets: readonly string[];
  /** Only where the plugin needs it. */
  readonly build?: BuildSummary;
  /** Why no other machine may run it: it gets secrets, or it may use the network. Empty: any may. */
  readonly local: readonly ('secrets' | 'network')[];
}

/** What holds on this machine alone, and decides nothing about the result. */
export interface LocalDocument {
  /** Absolute path of the plugin's module. */
  readonly modulePath: string;
  /** What it may load: only of a third party's plugin. */
  readonly modules?: LoadRule;
  /** Digests of single files among the inputs that are known, by path relative to the run folder, as long as the stamps are these. */
  readonly known: Readonly<Record<string, { readonly stamp: string; readonly digest: Digest }>>;
  /** Files of the programs that the stage declares, by the names that it gives them. */
  readonly tools: Readonly<Record<string, string>>;
}

export const RUN_LAYOUT = {
  action: 'action.json',
  local: 'local.json',
  inputs: 'inputs',
  outputs: 'outputs',
  scratch: 'scratch',
  parts: 'parts',
  copies: 'copies',
} as const;

/** The document's paths made absolute. */
export function absoluteInputs(folder: string, inputs: ActionDocument['inputs']): InputPaths {
  return mapInputs(inputs, path => join(folder, path));
}

/** The inputs with another path for each. */
export function mapInputs(inputs: ActionDocument['inputs'], to: (path: string) => string): InputPaths {
  const mapEntries = (paths: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(paths).map(([entry, path]) => [entry, to(path)]));
  return Object.fromEntries(Object.entries(inputs).map(([port, path]) => [port, typeof path === 'string' ? to(path) : mapEntries(path)]));
}

export function absolutePaths(folder: string, paths: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(paths).map(([name, path]) => [name, join(folder, path)]));
}
