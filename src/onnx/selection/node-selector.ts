/** Node selectors, by name, operator, attributes and neighbors, and their JSON Schema for params of plugins. */
import { schemaOf } from '../../base/schema/from-schema.js';

/**
 * A string is a node name. In an object, all given fields must match: `name` the node name, `op` the operator, `output` an output value, `input` an input value,
 * `producer` a producer of an input, `consumer` a reader of an output, `inputs` the producers of the inputs in order (null: any), `attributes` attribute values.
 * A string for `producer` and `consumer` is an operator; in `inputs`, a node name. In all strings `*` matches any characters, and after `re:` follows a regular
 * expression.
 */
export type NodeSelector = string | NodeFields;

export interface NodeFields {
  readonly name?: string;
  readonly op?: string;
  readonly output?: string;
  readonly input?: string;
  readonly producer?: string | NodeFields;
  readonly consumer?: string | NodeFields;
  readonly inputs?: readonly (NodeSelector | null)[];
  readonly attributes?: Readonly<Record<string, AttributeWanted>>;
}

export type AttributeWanted = number | string | readonly number[];

export const FIELD_NAMES = ['name', 'op', 'output', 'input', 'producer', 'consumer', 'inputs', 'attributes'] as const;

/** A nested selector; its fields are checked when it is used. */
const NESTED = schemaOf<NodeFields>({ type: 'object', minProperties: 1, propertyNames: { enum: FIELD_NAMES } });
const NEIGHBOR = { anyOf: [{ type: 'string', minLength: 1 }, NESTED] } as const;

/** The JSON Schema of a selector, for the params of plugins. */
export const NODE_SELECTOR_SCHEMA = {
  anyOf: [
    { type: 'string', minLength: 1 },
    {
      type: 'object',
      additionalProperties: false,
      minProperties: 1,
      properties: {
        name: { type: 'string', minLength: 1 },
        op: { type: 'string', minLength: 1 },
        output: { type: 'string', minLength: 1 },
        input: { type: 'string', minLength: 1 },
        producer: NEIGHBOR,
        consumer: NEIGHBOR,
        inputs: { type: 'array', minItems: 1, items: { anyOf: [{ type: 'string', minLength: 1 }, NESTED, { type: 'null' }] } },
        attributes: {
          type: 'object',
          minProperties: 1,
          additionalProperties: { anyOf: [{ type: 'number' }, { type: 'string' }, { type: 'array', items: { type: 'number' } }] },
        },
      },
    },
  ],
  description:
    'A node: its name, or {name, op, output, input, producer, consumer, inputs, attributes} that must all match. `*` matches any characters, after `re:` follows a regular expression; producer and consumer are operators or nested selectors.',
} as const;
