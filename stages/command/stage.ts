/** Declaration of the `command` plugin: runs any program in a folder with its declared inputs. */
import { defineStage } from '../../src/stage/define-stage.js';
import { ARTIFACT_KINDS, type Ports, port } from '../../src/stage/ports.js';
import type { CommandParams } from './params.js';
import { checkPlaces, type Place } from './places.js';

const PLACES = {
  type: 'object',
  propertyNames: { pattern: '^(?!__proto__$)[A-Za-z_][A-Za-z0-9_-]*$' },
  additionalProperties: {
    anyOf: [
      { type: 'string', minLength: 1 },
      {
        type: 'object',
        additionalProperties: false,
        required: ['path'],
        properties: { path: { type: 'string', minLength: 1 }, kind: { type: 'string', enum: Object.keys(ARTIFACT_KINDS) } },
      },
    ],
  },
} as const;

export const command = defineStage<CommandParams>({
  name: 'command',
  version: 1,
  description: 'Runs any program in its own folder, with its declared inputs, environment and tools.',
  params: {
    type: 'object',
    additionalProperties: false,
    required: ['run', 'outputs'],
    properties: {
      run: {
        type: 'array',
        items: { type: 'string' },
        minItems: 1,
        description:
          'The program and its arguments. A program "./name" is a declared input; any other is found on the PATH, and its digest is part of the key.',
      },
      shell: {
        type: 'string',
        enum: ['none', 'sh'],
        default: 'none',
        description: 'none: the program is started directly. sh: run has one entry, a script for /bin/sh.',
      },
      inputs: { ...PLACES, default: {}, description: 'Input port → its path in the folder, or {path, kind}.' },
      outputs: { ...PLACES, minProperties: 1, description: 'Output port → the path that the program writes, or {path, kind}.' },
      tools: {
        type: 'array',
        items: { type: 'string', minLength: 1 },
        uniqueItems: true,
        default: [],
        description: 'Further programs that it starts. The digest of each is part of the key.',
      },
      env: {
        type: 'object',
        additionalProperties: { type: 'string' },
        default: {},
        description: 'The environment of the program. It gets no other variables, except those that the stage lists under `env`.',
      },
      determinism: {
        type: 'string',
        enum: ['exact', 'measured'],
        default: 'exact',
        description: 'exact: equal inputs give equal bytes. measured: they may differ.',
      },
    },
  },
  inputs: params => portsOf(params.inputs),
  outputs: params => portsOf(params.outputs),
  determinism: params => params.determinism,
  runsModels: 'never',
  isolation: 'in-process',
  tools: ({ run: [program = ''], shell, tools }) => [
    ...new Set([...(shell === 'sh' ? ['sh'] : isPlaced(program) ? [] : [program]), ...tools]),
  ],
  checkParams: ({ run, shell, inputs, outputs, tools, env }) => [
    ...(run.some(hasNul) || tools.some(hasNul) || Object.values(env).some(hasNul)
      ? ['arguments, programs and variables cannot contain NUL characters']
      : []),
    ...Object.keys(env)
      .filter(name => name === '' || name.includes('=') || hasNul(name))
      .map(name => `env: ${JSON.stringify(name)} is not a valid variable name`),
    ...(shell === 'sh' && run.length !== 1 ? [`shell: sh expects one entry in run, the script; found ${run.length}`] : []),
    ...(run[0] === '' ? ['run[0], the program, is empty'] : []),
    ...checkPlaces(inputs, outputs),
  ],
  run: async job => (await import('./run.js')).runCommand(job),
});

function hasNul(text: string): boolean {
  return text.includes('\0');
}

/** Whether the program is one of the declared inputs in the folder. */
function isPlaced(program: string): boolean {
  return program.startsWith('./');
}

function portsOf(places: Readonly<Record<string, Place>>): Ports {
  return Object.fromEntries(
    Object.entries(places).map(([name, place]) => [name, port(typeof place === 'string' ? 'any' : (place.kind ?? 'any'))]),
  );
}
