/** The two documents of a worker: the action, which is equal on every machine, and the paths on this machine. */
import { join } from 'node:path';
import { anyList, anyObject, anyOf, anyText, constant, integer, mapOf, object, oneOf, text } from '../../../base/schema/build-schema.js';
import { DIGEST_SCHEMA } from '../../../base/schema/digest-schema.js';
import type { FromSchema } from '../../../base/schema/from-schema.js';
import { BUILD_SUMMARY } from '../../../stage/build-summary.js';
import type { InputPaths } from '../../../stage/define-stage.js';
import { LOAD_RULE } from './load-rule.js';

const PATHS = mapOf(anyText());

/** The action. Its paths are relative to the run folder. */
export const ACTION_DOCUMENT = object(
  {
    format: constant(1),
    plugin: text(),
    key: anyText("Seed of the stage's random numbers."),
    params: anyObject(),
    inputs: mapOf(anyOf([anyText(), PATHS])),
    outputs: PATHS,
    env: anyList(anyText(), 'Names of the declared environment variables.'),
    secrets: anyList(anyText(), 'The subset of these names whose values are masked in the output of programs.'),
    local: anyList(
      oneOf(['secrets', 'network']),
      'Reasons why no other machine may run it: it receives secrets, or it may use the network. Empty: any machine may.',
    ),
  },
  { build: { ...BUILD_SUMMARY, description: 'Defined only if the plugin needs it.' } },
);

export type ActionDocument = FromSchema<typeof ACTION_DOCUMENT>;

/** Values that are valid on this machine only and do not affect the result. */
export const LOCAL_DOCUMENT = object(
  {
    modulePath: text("Absolute path of the plugin's module."),
    known: mapOf(object({ stamp: anyText(), digest: DIGEST_SCHEMA }), {
      description: 'Known digests of input files by path relative to the run folder. Each is valid as long as the file has this stamp.',
    }),
    tools: { ...PATHS, description: 'Files of the declared programs, by the names that the stage uses.' },
  },
  {
    partsAtOnce: integer(1, 'Parts to ask for at once; default: 1.'),
    partProcesses: integer(1, 'Processes besides the worker that may compute its parts, while slots are lent to it; default: none.'),
    guarded: { ...constant(true), description: 'Other programs run it, as in the sandbox and under strace, and see how it ends.' },
    modules: { ...LOAD_RULE, description: 'The modules that it may load. Defined only for a third-party plugin.' },
  },
);

export type LocalDocument = FromSchema<typeof LOCAL_DOCUMENT>;

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
