/** The grammar of node selectors, by name, operator, attributes and neighbors: a JSON Schema, and its types. It holds data only, so that plans load it. */
import { keysOf } from '../../base/keys-of.js';
import { anyOf, anyText, list, NULL, number, oneOf, text } from '../../base/schema/build-schema.js';
import { type FromSchema, type SchemaOf, schemaOf } from '../../base/schema/from-schema.js';

/** Fields with one text. In every text `*` matches any characters, and after `re:` follows a regular expression. */
const TEXTS = {
  name: text('The name of the node.'),
  op: text('Its operator.'),
  output: text('One of its outputs.'),
  input: text('One of its inputs.'),
} as const;

export const FIELD_NAMES = [...keysOf(TEXTS), 'producer', 'consumer', 'inputs', 'attributes'] as const;

/** A selector inside another one. `readSelector` checks its fields. */
const NESTED: SchemaOf<NodeFields> = schemaOf<NodeFields>({ type: 'object', minProperties: 1, propertyNames: { enum: FIELD_NAMES } });

/** As a text, an operator. */
const NEIGHBOR = anyOf([text(), NESTED]);

/** Fields that a text may state. */
export const TEXT_FIELDS = {
  ...TEXTS,
  producer: { ...NEIGHBOR, description: 'A producer of an input.' },
  consumer: { ...NEIGHBOR, description: 'A reader of an output.' },
} as const;

const FIELDS = {
  type: 'object',
  additionalProperties: false,
  minProperties: 1,
  properties: {
    ...TEXT_FIELDS,
    inputs: {
      ...list(anyOf([text(), NESTED, NULL])),
      description: 'The producers of its inputs in order, by name or selector; null matches any producer.',
    },
    attributes: {
      type: 'object',
      minProperties: 1,
      additionalProperties: anyOf([number(), anyText(), { type: 'array', items: number() }]),
      description: 'Values of attributes.',
    },
  },
} as const;

/** The JSON Schema of a selector: the name of a node, or fields that must all match. */
export const NODE_SELECTOR_SCHEMA = {
  anyOf: [text(), FIELDS],
  title: 'the name of a node, or an object such as {op: Conv}',
  description:
    'A node: its name, or {name, op, output, input, producer, consumer, inputs, attributes} that must all match. `*` matches any characters, after `re:` follows a regular expression; producer and consumer are operators or nested selectors.',
} as const;

/** An interface, because it contains itself. */
export interface NodeFields extends FromSchema<typeof FIELDS> {}

export type NodeSelector = FromSchema<typeof NODE_SELECTOR_SCHEMA>;

export type AttributeWanted = NonNullable<NodeFields['attributes']>[string];

/** How many nodes a selector may match. */
export const MATCHES_SCHEMA = oneOf(['one', 'any'], 'one: exactly one match, any other number is an error. any: none, one or several.');

/** 'one': exactly one. 'any': none, one or several. */
export type Matches = FromSchema<typeof MATCHES_SCHEMA>;
