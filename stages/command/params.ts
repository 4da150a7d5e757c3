/** Params of `command`. */
import { keysOf } from '../../src/base/keys-of.js';
import type { FromSchema } from '../../src/base/schema/from-schema.js';
import { ARTIFACT_KINDS } from '../../src/stage/ports.js';

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
        properties: { path: { type: 'string', minLength: 1 }, kind: { type: 'string', enum: keysOf(ARTIFACT_KINDS) } },
      },
    ],
  },
} as const;

export const COMMAND_PARAMS = {
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
      description: 'exact: equal inputs give equal bytes. measured: they may differ, and the identity of the host is part of the key.',
    },
  },
} as const;

/** The path of a port's file or folder in the program's folder, with its artifact kind. */
export type Place = FromSchema<typeof PLACES>[string];

export type CommandParams = FromSchema<typeof COMMAND_PARAMS>;
