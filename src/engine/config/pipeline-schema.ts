/** The JSON Schema of a pipeline file. Alone it checks the structure; together with the plugins' own schemas it is the schema for editors. */
import type { Json, JsonObject } from '../../base/json.js';

/** The facts about a plugin that the schema needs. */
export interface PluginSchema {
  readonly name: string;
  readonly description: string;
  readonly params: JsonObject;
}

/** `__proto__` is excluded because it is not an ordinary key of a JavaScript object. */
const NAME = '^(?!__proto__$)[A-Za-z_][A-Za-z0-9_-]*$';
const SCALAR = { type: ['string', 'number', 'integer', 'boolean', 'null'] };

const reference: JsonObject = {
  description: 'A source ("${sources.name}"), an output ("stage.port", "stage@item.port"), or a record of these.',
  anyOf: [{ type: 'string' }, { type: 'object', additionalProperties: { type: 'string' } }],
};

const param: JsonObject = {
  description: 'A value, whose type the parameter keeps, or {type, default, description, enum}.',
  anyOf: [
    SCALAR,
    { type: 'array' },
    {
      type: 'object',
      required: ['default'],
      additionalProperties: false,
      properties: {
        type: { type: 'string', enum: ['string', 'number', 'integer', 'boolean', 'list'] },
        default: {},
        description: { type: 'string' },
        enum: { type: 'array', minItems: 1 },
      },
    },
  ],
};

const source: JsonObject = {
  description: 'A file or folder, relative to the project, or a record of these. A path outside the project is read only.',
  anyOf: [
    { type: 'string', minLength: 1 },
    { type: 'object', minProperties: 1, propertyNames: { pattern: NAME }, additionalProperties: { type: 'string', minLength: 1 } },
  ],
};

/** A size such as "500MB" or "4GB". */
const size: JsonObject = { description: 'Such as "500MB" or "4GB".', type: 'string', pattern: '^\\d+(\\.\\d+)?\\s*([kKMGT]?B)$' };

const stage = (withSchema: Json, uses: Json): JsonObject => ({
  type: 'object',
  required: ['uses'],
  additionalProperties: false,
  properties: {
    uses: uses,
    with: withSchema,
    inputs: { type: 'object', additionalProperties: reference, description: 'Input port → what it reads.' },
    foreach: {
      description: 'One instance per item: a list of names (${item}), or a map of names to values (${key}, ${item}, ${item.x}).',
      anyOf: [
        { type: 'array', minItems: 1, items: { type: ['string', 'number', 'boolean'] } },
        { type: 'object', minProperties: 1 },
        { type: 'string' },
      ],
    },
    matrix: {
      description: 'One instance per combination: lists by name (${matrix.name}).',
      type: 'object',
      minProperties: 1,
      propertyNames: { pattern: NAME },
      additionalProperties: { type: 'array', minItems: 1, items: { type: ['string', 'number', 'boolean'] } },
    },
    gate: {
      description: 'Metric → bound, such as {delta.bbox.AP: ">= -0.008"}. Checked in every build, no part of the key.',
      type: 'object',
      additionalProperties: { type: ['string'] },
    },
    resources: {
      description: 'Units of each pool that a run takes; cpu is 1 unless set. Memory is a size.',
      type: 'object',
      propertyNames: { pattern: NAME },
      properties: { memory: size },
      additionalProperties: { type: 'integer', minimum: 0 },
    },
    priority: {
      description: 'Among stages that are ready, those of a higher one start first, and with them what they wait for. 0 where absent.',
      type: 'integer',
      minimum: -1000,
      maximum: 1000,
    },
    timeout: { description: 'Such as "90s", "10m", "2h".', type: 'string' },
    retries: { description: 'Further tries after a failure.', type: 'integer', minimum: 0, maximum: 100 },
    env: {
      description: 'Environment variables that reach the stage; their values are in its key.',
      type: 'array',
      items: { type: 'string' },
    },
    secrets: {
      description:
        'Environment variables that reach the stage, and whose values reach nothing else: neither the key nor what the stage logs.',
      type: 'array',
      items: { type: 'string' },
    },
    network: { description: 'Whether it may use the network where it runs in a sandbox; none where absent.', enum: ['none', 'allowed'] },
  },
});

/** The structure alone. `with` is any map here, because each plugin's schema is checked after interpolation. */
export const PIPELINE_STRUCTURE: JsonObject = pipelineOf(stage({ type: 'object' }, { type: 'string' }));

/** Returns the complete schema for editors and docs/pipeline.schema.json. */
export function makePipelineSchema(plugins: readonly PluginSchema[]): JsonObject {
  const known = { type: 'string', description: 'The plugin.', anyOf: [{ enum: plugins.map(plugin => plugin.name) }, { type: 'string' }] };
  const branches = plugins.map(plugin => ({
    if: { properties: { uses: { const: plugin.name } }, required: ['uses'] },
    // biome-ignore lint/suspicious/noThenProperty: the JSON Schema keyword
    then: { properties: { with: { description: plugin.description, ...allowReferences(plugin.params) } } },
  }));
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Tanren pipeline',
    ...pipelineOf({ ...stage({ type: 'object' }, known), allOf: branches }),
  };
}

function pipelineOf(stageSchema: JsonObject): JsonObject {
  return {
    type: 'object',
    required: ['version', 'stages'],
    additionalProperties: false,
    properties: {
      version: { const: 1, description: 'Version of this file format.' },
      params: { type: 'object', propertyNames: { pattern: NAME }, additionalProperties: param },
      sources: { type: 'object', propertyNames: { pattern: NAME }, additionalProperties: source },
      pools: {
        type: 'object',
        propertyNames: { pattern: NAME },
        properties: { memory: size },
        additionalProperties: { type: 'integer', minimum: 1 },
        description: 'Capacity of named pools.',
      },
      plugins: {
        description: "Third parties' plugins: name → a local module (./…) or an installed package.",
        type: 'object',
        propertyNames: { pattern: NAME },
        additionalProperties: { type: 'string', minLength: 1 },
      },
      stages: { type: 'object', minProperties: 1, propertyNames: { pattern: NAME }, additionalProperties: stageSchema },
    },
  };
}

/** Returns a schema that also accepts "${…}" for any value that is not text, because interpolation precedes the plugin's check. */
function allowReferences(schema: Json): JsonObject {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return {};
  const relaxed = relax(schema as JsonObject);
  return typeof relaxed === 'object' && relaxed !== null && !Array.isArray(relaxed) ? (relaxed as JsonObject) : {};
}

function relax(schema: Json): Json {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return schema;
  const { properties, items, additionalProperties, ...rest } = schema as JsonObject;
  const inner: Record<string, Json> = { ...rest };
  if (properties !== undefined) {
    inner.properties = Object.fromEntries(Object.entries(properties as JsonObject).map(([name, member]) => [name, withReference(member)]));
  }
  if (items !== undefined) inner.items = withReference(items);
  if (additionalProperties !== undefined)
    inner.additionalProperties = typeof additionalProperties === 'boolean' ? additionalProperties : withReference(additionalProperties);
  delete inner.required;
  return inner;
}

function withReference(schema: Json): Json {
  const relaxed = relax(schema);
  const description =
    typeof schema === 'object' && schema !== null && !Array.isArray(schema) ? (schema as JsonObject).description : undefined;
  return { ...(description === undefined ? {} : { description }), anyOf: [relaxed, { type: 'string', pattern: '\\$\\{' }] };
}
