/** Params of `rewrite`. */
import { keysOf } from '../../src/base/keys-of.js';
import type { FromSchema } from '../../src/base/schema/from-schema.js';
import { describeRules } from '../../src/onnx/rules/rule-table.js';
import { NODE_SELECTOR_SCHEMA } from '../../src/onnx/selection/node-selector.js';
import { DTYPES } from '../../src/tensor/dtype.js';

const MATCHES = {
  type: 'string',
  enum: ['one', 'any'],
  default: 'one',
  description: 'one: exactly one match, any other number is an error. any: none, one or several.',
} as const;

const EDIT = {
  type: 'object',
  additionalProperties: false,
  properties: {
    select: NODE_SELECTOR_SCHEMA,
    constant: { type: 'string', minLength: 1, description: 'For setConstant: initializers by name, instead of an input of a node.' },
    matches: MATCHES,
    setAttribute: {
      type: 'object',
      additionalProperties: false,
      required: ['name', 'type', 'value'],
      properties: {
        name: { type: 'string', minLength: 1 },
        type: { type: 'string', enum: ['int', 'ints', 'float', 'floats', 'string', 'strings'] },
        value: {
          anyOf: [{ type: 'number' }, { type: 'string' }, { type: 'array', items: { anyOf: [{ type: 'number' }, { type: 'string' }] } }],
        },
      },
    },
    deleteAttribute: { type: 'string', minLength: 1 },
    setConstant: {
      type: 'object',
      additionalProperties: false,
      required: ['dtype', 'values'],
      properties: {
        input: { type: 'integer', minimum: 0, description: 'Which input of the selected node.' },
        dtype: { type: 'string', enum: keysOf(DTYPES) },
        dims: { type: 'array', items: { type: 'integer', minimum: 0 } },
        values: { type: 'array', items: { type: 'number' } },
      },
    },
  },
} as const;

export const REWRITE_PARAMS = {
  type: 'object',
  additionalProperties: false,
  properties: {
    rules: {
      type: 'array',
      default: [],
      description: 'Applied in order, before the edits.',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['name'],
        properties: {
          name: { type: 'string', description: describeRules() },
          form: { type: 'string', description: 'For rules that come in forms.' },
          select: NODE_SELECTOR_SCHEMA,
          matches: MATCHES,
        },
      },
    },
    edits: { type: 'array', default: [], items: EDIT, description: 'Applied in order, after the rules.' },
    samples: { type: 'integer', minimum: 0, default: 4, description: 'Number of images for measuring the price, the first by id.' },
  },
} as const;

export type RewriteParams = FromSchema<typeof REWRITE_PARAMS>;

export type RuleParams = RewriteParams['rules'][number];
