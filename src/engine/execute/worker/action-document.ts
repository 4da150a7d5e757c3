/** The two documents of a worker: the action, which is equal on every machine, and the paths on this machine. */
import { join } from 'node:path';
import type { Digest } from '../../../base/digest.js';
import type { JsonObject } from '../../../base/json.js';
import type { BuildSummary } from '../../../stage/build-summary.js';
import type { InputPaths } from '../../../stage/define-stage.js';
import type { LoadRule } from './load-rule.js';

/** The action. Its paths are relative to the run folder. */
export interface ActionDocument {
  readonly format: 1;
  readonly plugin: string;
  /** Seed of the stage's random numbers. */
  readonly key: string;
  readonly params: JsonObject;
  readonly inputs: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly outputs: Readonly<Record<string, string>>;
  /** Names of the declared environment variables. */
  readonly env: readonly string[];
  /** The subset of these names whose values are masked in the output of programs. */
  readonly secrets: readonly string[];
  /** Defined only if the plugin needs it. */
  readonly build?: BuildSummary;
  /** Reasons why no other machine may run it: it receives secrets, or it may use the network. Empty: any machine may. */
  readonly local: readonly ('secrets' | 'network')[];
}

/** Values that are valid on this machine only and do not affect the result. */
export interface LocalDocument {
  /** Absolute path of the plugin's module. */
  readonly modulePath: string;
  /** The modules that it may load. Defined only for a third-party plugin. */
  readonly modules?: LoadRule;
  /** Known digests of input files by path relative to the run folder. Each is valid as long as the file has this stamp. */
  readonly known: Readonly<Record<string, { readonly stamp: string; readonly digest: Digest }>>;
  /** Files of the declared programs, by the names that the stage uses. */
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

/** Returns the document's input paths as absolute paths. */
export function absoluteInputs(folder: string, inputs: ActionDocument['inputs']): InputPaths {
  return mapInputs(inputs, path => join(folder, path));
}

/** Returns the inputs with each path mapped by `to`. */
export function mapInputs(inputs: ActionDocument['inputs'], to: (path: string) => string): InputPaths {
  const mapEntries = (paths: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(paths).map(([entry, path]) => [entry, to(path)]));
  return Object.fromEntries(Object.entries(inputs).map(([port, path]) => [port, typeof path === 'string' ? to(path) : mapEntries(path)]));
}

export function absolutePaths(folder: string, paths: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(paths).map(([name, path]) => [name, join(folder, path)]));
}
