/** Params of `toolchain`. */
import type { FromSchema } from '../../src/base/schema/from-schema.js';

const PATTERN = { type: 'string', minLength: 1, maxLength: 500 } as const;

/** How a compiler is started, recognized and read. */
export const TOOL_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  required: ['name', 'version', 'run'],
  description: 'Description of a compiler.',
  properties: {
    name: { type: 'string', minLength: 1, description: 'For messages and the report.' },
    version: {
      type: 'object',
      description: 'How the compiler tells its version.',
      additionalProperties: false,
      required: ['run', 'pattern'],
      properties: {
        run: { type: 'array', items: { type: 'string' }, minItems: 1, description: 'The program and arguments that print its version.' },
        pattern: { ...PATTERN, description: 'Regular expression; its group `version` is the version.' },
      },
    },
    run: {
      type: 'array',
      items: { type: 'string' },
      minItems: 1,
      description:
        'The program and its arguments. {model} is the file of the model, {output} the folder of the results, {options} the params `options`.',
    },
    modelName: {
      type: 'string',
      minLength: 1,
      pattern: '^[A-Za-z0-9._-]+$',
      default: 'model.onnx',
      description: 'Name of the file {model}.',
    },
    findings: {
      type: 'array',
      default: [],
      description: 'Lines of the log that are findings: the first pattern that matches a line counts.',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['pattern', 'severity'],
        properties: {
          pattern: {
            ...PATTERN,
            description: 'Regular expression. Its groups `operator`, `node` and `reason`, where it has them, are fields of the finding.',
          },
          continued: { ...PATTERN, description: 'Lines right after it that match belong to its reason.' },
          severity: {
            type: 'string',
            enum: ['error', 'refused', 'warning', 'note'],
            description: 'error: the stage fails, whatever the exit code is.',
          },
        },
      },
    },
    figures: {
      type: 'object',
      propertyNames: { pattern: '^[A-Za-z][A-Za-z0-9]*$' },
      additionalProperties: PATTERN,
      default: {},
      description: 'Name → regular expression whose group `value` is a number of the log: a metric. The last match counts.',
    },
    required: {
      type: 'array',
      items: { type: 'string', minLength: 1 },
      default: [],
      description: 'Names of files in {output} that must exist; "*" stands for any characters but "/".',
    },
    env: { type: 'object', additionalProperties: { type: 'string' }, default: {}, description: 'The environment of the program.' },
  },
} as const;

export type ToolDescription = FromSchema<typeof TOOL_SCHEMA>;

export const TOOLCHAIN_PARAMS = {
  type: 'object',
  additionalProperties: false,
  required: ['version'],
  properties: {
    tool: { type: 'string', enum: ['openvino', 'vela'], description: 'A described compiler. Either this or `describe`.' },
    describe: TOOL_SCHEMA,
    version: {
      type: 'string',
      minLength: 1,
      description: 'The version that the installed compiler must report, for example 5.1.0. It is part of the key.',
    },
    options: { type: 'array', items: { type: 'string' }, default: [], description: 'Further arguments of the compiler.' },
    timeoutSeconds: {
      type: 'number',
      exclusiveMinimum: 0,
      maximum: 86_400,
      default: 3600,
      description: 'The compiler and the processes of its group are killed after this time.',
    },
  },
} as const;

export type ToolchainParams = FromSchema<typeof TOOLCHAIN_PARAMS>;
