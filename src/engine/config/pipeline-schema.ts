/** The JSON Schema of a pipeline file. Alone it checks the structure; together with the plugins' own schemas it is the schema for editors. */
import { BOUND } from '../../base/bound.js';
import type { Json, JsonObject } from '../../base/json.js';
import { EXECUTORS } from '../model/plan.js';
import { ARTIFACT_REFERENCE, DURATION } from './scalars.js';

/** The facts about a plugin that the schema needs. */
export interface PluginSchema {
  readonly name: string;
  readonly description: string;
  readonly params: JsonObject;
  /** The input ports; undefined if the params name them. */
  readonly inputs: InputPorts | undefined;
}

/** Input ports by name, and those of them that must be connected. */
export interface PortNames {
  readonly names: readonly string[];
  readonly required: readonly string[];
}

/** The input ports that the plugin has for some params, those that it requires for all, and what single values of params change. */
export interface InputPorts extends PortNames {
  readonly rules: readonly PortRule[];
}

/** The input ports with one value of a param; undefined: with no value. */
export interface PortRule extends PortNames {
  readonly param: string;
  readonly value: string | undefined;
  /** Whether the param has this value where it is not given. */
  readonly isDefault: boolean;
}

/** `__proto__` is excluded because it is not an ordinary key of a JavaScript object. */
const NAME = '^(?!__proto__$)[A-Za-z_][A-Za-z0-9_-]*$';
const SCALAR = { type: ['string', 'number', 'integer', 'boolean', 'null'] };

const reference: JsonObject = {
  description: 'A source ("${sources.name}"), an output ("stage.port", "stage@item.port"), or a record of these.',
  anyOf: [{ type: 'string' }, { type: 'object', additionalProperties: { type: 'string' } }],
};

const param: JsonObject = {
  description: 'The default value, whose type the parameter keeps, or a map {type, default, description, enum}.',
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
  description: 'A file or folder relative to the project, or a map of names to these. Tanren never writes to a source.',
  anyOf: [
    { type: 'string', minLength: 1 },
    { type: 'object', minProperties: 1, propertyNames: { pattern: NAME }, additionalProperties: { type: 'string', minLength: 1 } },
  ],
};

/** A size such as "500MB" or "4GB". */
const size: JsonObject = {
  description: 'A size in bytes, for example "500MB" or "4GB".',
  type: 'string',
  pattern: '^\\d+(\\.\\d+)?\\s*([kKMGT]?B)$',
};

const stage = (withSchema: Json, uses: Json): JsonObject => ({
  type: 'object',
  required: ['uses'],
  additionalProperties: false,
  properties: {
    uses: uses,
    with: withSchema,
    inputs: { type: 'object', additionalProperties: reference, description: 'Input port → what it reads.' },
    foreach: {
      description:
        'One instance per item: a list of names (reference: ${item}), or a map of names to values (references: ${key}, ${item}, ${item.x}).',
      anyOf: [
        { type: 'array', minItems: 1, items: { type: ['string', 'number', 'boolean'] } },
        { type: 'object', minProperties: 1 },
        { type: 'string' },
      ],
    },
    matrix: {
      description: 'One instance per combination of the values in these lists. References: ${matrix.name}.',
      type: 'object',
      minProperties: 1,
      propertyNames: { pattern: NAME },
      additionalProperties: { type: 'array', minItems: 1, items: { type: ['string', 'number', 'boolean'] } },
    },
    gate: {
      description:
        'A bound for each metric, for example {delta.bbox.AP: ">= -0.008"}. Bounds are checked in every build and are not part of the action key.',
      type: 'object',
      additionalProperties: { type: ['string'] },
    },
    resources: {
      description: 'Units of each pool that a run takes. Default for cpu: 1. The value of memory is a size.',
      type: 'object',
      propertyNames: { pattern: NAME },
      properties: { memory: size },
      additionalProperties: { type: 'integer', minimum: 0 },
    },
    priority: {
      description: 'Ready stages with a higher priority start first, and so do the stages that they depend on. Default: 0.',
      type: 'integer',
      minimum: -1000,
      maximum: 1000,
    },
    timeout: { description: 'The maximum duration of a run, for example "90s", "10m" or "2h".', type: 'string' },
    retries: { description: 'Number of further attempts after a failure. Default: 0.', type: 'integer', minimum: 0, maximum: 100 },
    env: {
      description: 'Environment variables that the stage can read. Their values are part of its action key.',
      type: 'array',
      items: { type: 'string' },
    },
    secrets: {
      description: 'Environment variables that the stage can read. Their values are not part of its action key and are masked in its log.',
      type: 'array',
      items: { type: 'string' },
    },
    executor: { description: 'Where it runs: here, on remote workers, or there if they can. Default: --executor.', enum: [...EXECUTORS] },
    properties: {
      description: 'Properties that a remote worker must have: {npu: xdna2}.',
      type: 'object',
      additionalProperties: { type: 'string' },
    },
    network: { description: 'Whether the stage may use the network when it runs in a sandbox. Default: none.', enum: ['none', 'allowed'] },
  },
});

/** The structure alone. `with` is any map here, because each plugin's schema is checked after interpolation. */
export const PIPELINE_STRUCTURE: JsonObject = pipelineOf(stage({ type: 'object' }, { type: 'string' }));

/** Texts of the form `pattern`, or with a part that interpolation replaces. */
function textLike({ source }: RegExp, description: string): JsonObject {
  return { anyOf: [{ pattern: source }, { pattern: '\\$\\{' }], description };
}

const REFERENCE = textLike(ARTIFACT_REFERENCE, 'An output ("stage.port", "stage@item.port") or a source ("${sources.name}").');

/** What the build checks after interpolation, with its own messages. */
const FORMS: JsonObject = {
  gate: { additionalProperties: textLike(BOUND, 'An operator and a number, such as ">= -0.008".') },
  timeout: textLike(DURATION, 'A number and a unit: ms, s, m, h or d.'),
  // biome-ignore lint/suspicious/noThenProperty: the JSON Schema keyword
  inputs: { additionalProperties: { if: { type: 'object' }, then: { additionalProperties: REFERENCE }, else: REFERENCE } },
};

/** Returns the complete schema for editors and docs/pipeline.schema.json. */
export function makePipelineSchema(plugins: readonly PluginSchema[]): JsonObject {
  const names = plugins.map(plugin => plugin.name);
  const known = { type: 'string', description: 'The name of the plugin.', anyOf: [{ enum: names }, { type: 'string' }] };
  const branches = plugins.map(plugin => ({
    if: { properties: { uses: { const: plugin.name } }, required: ['uses'] },
    // biome-ignore lint/suspicious/noThenProperty: the JSON Schema keyword
    then: describeStage(plugin),
  }));
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Tanren pipeline',
    ...pipelineOf({ ...stage({ type: 'object' }, known), allOf: [{ properties: FORMS }, ...branches] }),
    // A file that names no plugins of its own has the built-in ones only.
    if: { not: { required: ['plugins'] } },
    // biome-ignore lint/suspicious/noThenProperty: the JSON Schema keyword
    then: { properties: { stages: { additionalProperties: { properties: { uses: { enum: names } } } } } },
  };
}

function describeStage({ description, params, inputs }: PluginSchema): JsonObject {
  const members = [...(hasRequired(params) ? ['with'] : []), ...((inputs?.required.length ?? 0) > 0 ? ['inputs'] : [])];
  return {
    ...(members.length === 0 ? {} : { required: members }),
    properties: {
      with: { description, ...allowReferences(params) },
      ...(inputs === undefined ? {} : { inputs: describePorts(inputs) }),
    },
    ...(inputs === undefined || inputs.rules.length === 0 ? {} : { allOf: inputs.rules.map(describeRule) }),
  };
}

function describePorts({ names, required }: PortNames): JsonObject {
  return { propertyNames: { enum: names }, ...(required.length === 0 ? {} : { required }) };
}

function describeRule({ param, value, isDefault, ...ports }: PortRule): JsonObject {
  const given = (member: JsonObject): JsonObject => ({
    properties: { with: { properties: { [param]: member }, required: [param] } },
    required: ['with'],
  });
  const other = value === undefined ? {} : { not: { const: value } };
  return {
    if: isDefault ? { not: given(other) } : given({ const: value ?? null }),
    // biome-ignore lint/suspicious/noThenProperty: the JSON Schema keyword
    then: { ...(ports.required.length === 0 ? {} : { required: ['inputs'] }), properties: { inputs: describePorts(ports) } },
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
        description: 'Capacity of each pool. The value of memory is a size.',
      },
      plugins: {
        description: 'Third-party plugins by name: a local module (./…) or an installed package.',
        type: 'object',
        propertyNames: { pattern: NAME },
        additionalProperties: { type: 'string', minLength: 1 },
      },
      remote: {
        description: 'The remote cache of the project. It is used only if the user trusts its origin.',
        type: 'object',
        additionalProperties: false,
        required: ['cache'],
        properties: { cache: { type: 'string', minLength: 1 } },
      },
      sweep: {
        description: 'What `tanren sweep` varies where it has no -m: a parameter, or stage.setting → its values.',
        type: 'object',
        minProperties: 1,
        additionalProperties: { type: 'array', minItems: 1 },
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
  return inner;
}

/** Whether a plugin has params without a default. */
function hasRequired({ required }: JsonObject): boolean {
  return Array.isArray(required) && required.length > 0;
}

function withReference(schema: Json): Json {
  const relaxed = relax(schema);
  const description =
    typeof schema === 'object' && schema !== null && !Array.isArray(schema) ? (schema as JsonObject).description : undefined;
  return { ...(description === undefined ? {} : { description }), anyOf: [relaxed, { type: 'string', pattern: '\\$\\{' }] };
}
