/** How does a user say which nodes are meant? By name, operator, attributes and what stands around a node; the form, and its schema for the params of plugins. */

/**
 * Text is a node's name. In an object, every field given must match: `name` the node's name, `op` its operator, `output` a value that it gives,
 * `input` a value that it reads, `producer` a node that makes one of its inputs, `consumer` a node that reads one of its outputs, `inputs` the nodes that make
 * its inputs, in order (null: any). Of producer and consumer, text is an operator; of `inputs`, a name. In all texts `*` stands for any characters, and after
 * `re:` comes a regular expression. `attributes`: each attribute named has this value.
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

/** A selector inside another: its fields are checked when it is used. */
const NESTED = { type: 'object', minProperties: 1, propertyNames: { enum: FIELD_NAMES } } as const;
const NEIGHBOUR = { anyOf: [{ type: 'string', minLength: 1 }, NESTED] } as const;

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
        producer: NEIGHBOUR,
        consumer: NEIGHBOUR,
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
    'A node: its name, or {name, op, output, input, producer, consumer, inputs, attributes} that must all match. `*` stands for any characters, after `re:` comes a regular expression; producer and consumer are operators, or selectors again.',
} as const;
