/** The schema of complete values requires what has a default, at every depth, and nothing else. */
import { Ajv } from 'ajv';
import { completeSchema } from '../../../../src/base/schema/complete-schema.js';

const SCHEMA = {
  type: 'object',
  additionalProperties: false,
  required: ['name'],
  properties: {
    name: { type: 'string' },
    count: { type: 'integer', default: 1 },
    note: { type: 'string' },
    shape: { anyOf: [{ const: 'none' }, { type: 'object', properties: { size: { type: 'integer', default: 3 } } }], default: {} },
    size: { oneOf: [{ type: 'integer' }, { type: 'object', properties: { width: { type: 'integer', default: 3 } } }], default: 1 },
    pair: { type: 'array', items: [{ type: 'object', properties: { first: { type: 'integer', default: 3 } } }], default: [] },
    rows: { type: 'array', items: { type: 'object', properties: { width: { type: 'integer', default: 2 } } }, default: [] },
    byName: {
      type: 'object',
      additionalProperties: { type: 'object', properties: { on: { type: 'boolean', default: true } } },
      default: {},
    },
  },
} as const;

const COMPLETE = {
  name: 'a',
  count: 2,
  shape: { size: 1 },
  size: { width: 1 },
  pair: [{ first: 1 }],
  rows: [{ width: 1 }],
  byName: { x: { on: false } },
};
const accepts = new Ajv({ strict: false }).compile(completeSchema(SCHEMA));

it('accepts complete values, with or without optional fields that have no default', () => {
  expect(accepts(COMPLETE)).toBe(true);
  expect(accepts({ ...COMPLETE, note: 'b', shape: 'none' })).toBe(true);
});

it.each([
  ['a field', { name: 'a' }],
  ['a field of a form', { ...COMPLETE, shape: {} }],
  ['a field of one form', { ...COMPLETE, size: {} }],
  ['a field of an item with a place', { ...COMPLETE, pair: [{}] }],
  ['a field of an item', { ...COMPLETE, rows: [{}] }],
  ['a field of a member', { ...COMPLETE, byName: { x: {} } }],
])('refuses values without %s that has a default', (_what, value) => {
  expect(accepts(value)).toBe(false);
});
