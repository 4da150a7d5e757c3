/** The document of a remote execution: what an action needs besides its inputs, equal on every client. */
import { anyOf, anyText, constant, mapOf, object, text } from '../../../base/schema/build-schema.js';
import { DIGEST_SCHEMA } from '../../../base/schema/digest-schema.js';
import type { FromSchema } from '../../../base/schema/from-schema.js';

export const EXECUTION_DOCUMENT = object(
  {
    format: constant(1),
    system: text('System and architecture of the runtime, such as "linux-x64". Another machine refuses the action.'),
    program: anyOf([
      object({ kind: constant('worker'), plugin: text('Name of a worker of the runtime, which contains the plugin.') }),
      object({ kind: constant('module'), path: text('Module that exports the plugin, relative to the input root.') }),
      object({ kind: constant('in-process'), plugin: text('Name of a plugin that only starts programs.') }),
    ]),
    tools: mapOf(DIGEST_SCHEMA, {
      description: 'Digest of each declared program. A machine with another file under this name refuses the action.',
    }),
    env: mapOf(anyText(), { description: 'Values of the declared environment variables.' }),
  },
  {
    platformClass: text('Defined only if the plugin runs models. A machine of another class refuses the action.'),
    runtime: text('Digest of the runtime that the worker has promised. A worker with another one refuses the action.'),
  },
);

export type ExecutionDocument = FromSchema<typeof EXECUTION_DOCUMENT>;

/** Names in the input root of an execution. */
export const ROOT_LAYOUT = {
  /** The action document, as a local worker reads it. */
  action: 'action.json',
  execution: 'execution.json',
  inputs: 'inputs',
  outputs: 'outputs',
  /** Node, Tanren and its packages. */
  runtime: 'runtime',
  /** Modules of a third-party plugin. */
  plugin: 'plugin',
} as const;

/** Paths in the runtime. */
export const RUNTIME_LAYOUT = { node: 'bin/node', main: 'dist/workers/exec-action.cjs' } as const;

/** How the process of an action ends. Servers cache no result with another exit code than 0. */
export const EXECUTION_EXIT = { done: 0, failed: 1, refused: 3 } as const;

/** This machine, in the words of the document. */
export function systemOf({ platform, arch }: { readonly platform: string; readonly arch: string }): string {
  return `${platform}-${arch}`;
}
