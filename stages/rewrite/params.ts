/** Params of `rewrite`. */
import { object } from '../../src/base/schema/build-schema.js';
import type { FromSchema } from '../../src/base/schema/from-schema.js';
import { EDIT_PROPERTIES } from '../../src/onnx/rewrite/edit-schema.js';
import { describeRules } from '../../src/onnx/rules/rule-table.js';
import { MATCHES_SCHEMA, NODE_SELECTOR_SCHEMA } from '../../src/onnx/selection/node-selector.js';

const MATCHES = { ...MATCHES_SCHEMA, default: 'one' } as const;

const EDIT = object({}, { ...EDIT_PROPERTIES, matches: MATCHES });

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
          name: { type: 'string', description: `A rule, by its name. ${describeRules()}` },
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
