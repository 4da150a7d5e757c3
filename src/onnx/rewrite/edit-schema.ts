/** The grammar of edits of attributes and constants: a JSON Schema, its types, and the rules between fields. It holds data only, so that plans load it. */
import { keysOf } from '../../base/keys-of.js';
import { anyList, anyOf, anyText, integer, number, object, oneOf, text } from '../../base/schema/build-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';
import { DTYPES } from '../../tensor/dtype.js';
import { MATCHES_SCHEMA, NODE_SELECTOR_SCHEMA } from '../selection/node-selector.js';

const ATTRIBUTE_TYPE = oneOf(['int', 'ints', 'float', 'floats', 'string', 'strings'], 'Type of the attribute.');

export const SET_ATTRIBUTE_SCHEMA = object(
  {
    name: text('Name of the attribute.'),
    type: ATTRIBUTE_TYPE,
    value: {
      anyOf: [number(), anyText(), anyList({ ...anyOf([number(), anyText()]), title: 'a number or a text' })],
      title: 'a number, a text, or a list of these',
      description: 'One value, or a list for a type of several.',
    },
  },
  undefined,
  'Adds an attribute to the selected nodes, or replaces it.',
);

/** The elements of a constant. `dims`: by default the shape of the old constant if it has as many elements, else a vector. */
export const CONSTANT_FIELDS = {
  required: { dtype: oneOf(keysOf(DTYPES), 'Type of the elements.'), values: anyList(number(), 'Elements in row-major order.') },
  optional: { dims: anyList(integer(0), 'Default: the old shape if it has as many elements, else one dimension.') },
} as const;

const SET_CONSTANT = object(
  CONSTANT_FIELDS.required,
  { input: integer(0, 'Which input of the selected node.'), ...CONSTANT_FIELDS.optional },
  'Replaces a constant.',
);

/** The properties of an edit: where, and one action. */
export const EDIT_PROPERTIES = {
  select: NODE_SELECTOR_SCHEMA,
  constant: text('For setConstant: initializers by name, instead of an input of a node.'),
  matches: MATCHES_SCHEMA,
  setAttribute: SET_ATTRIBUTE_SCHEMA,
  deleteAttribute: text('The attribute to remove from the selected nodes.'),
  setConstant: SET_CONSTANT,
} as const;

export const EDIT_ACTIONS = ['setAttribute', 'deleteAttribute', 'setConstant'] as const;

/**
 * One action, at the nodes that `select` matches. For `setConstant`, `constant` may select initializers by name instead; `*` matches any characters.
 */
export type Edit = { readonly [Name in keyof typeof EDIT_PROPERTIES]?: FromSchema<(typeof EDIT_PROPERTIES)[Name]> };

export type SetAttribute = FromSchema<typeof SET_ATTRIBUTE_SCHEMA>;
export type SetConstant = FromSchema<typeof SET_CONSTANT>;
export type AttributeType = FromSchema<typeof ATTRIBUTE_TYPE>;

/** Problems that the schema cannot state: each edit has one action and one target. */
export function findEditProblems({ select, constant, setAttribute, deleteAttribute, setConstant }: Edit): readonly string[] {
  const actions = [setAttribute, deleteAttribute, setConstant].filter(action => action !== undefined);
  if (actions.length !== 1) return [`set exactly one of ${EDIT_ACTIONS.join(', ')}`];
  if ((select === undefined) === (constant === undefined)) return ['set either select (a node) or constant (an initializer)'];
  if (constant !== undefined && setConstant === undefined) return ['constant (an initializer) requires setConstant'];
  if (select !== undefined && setConstant !== undefined && setConstant.input === undefined)
    return ['setConstant of a node needs the index of the input'];
  return [];
}
