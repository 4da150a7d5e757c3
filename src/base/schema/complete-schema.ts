/** The schema of complete values: what a schema with defaults describes after its defaults are filled in. */
import { isJsonList, isJsonObject, type Json, type JsonObject } from '../json.js';
import { type FromSchema, type SchemaOf, schemaOf } from './from-schema.js';

/** The same schema where fields with a default are required. Its type is the same: `FromSchema` describes values after defaults are filled in. */
export function completeSchema<const Schema extends JsonObject>(schema: Schema): SchemaOf<FromSchema<Schema>> {
  return schemaOf<FromSchema<Schema>>(complete(schema));
}

/** Keywords whose values are schemas or lists of schemas. */
const INNER = ['items', 'additionalProperties', 'anyOf', 'oneOf'] as const;

function complete({ default: _default, ...schema }: JsonObject): JsonObject {
  const { properties, required } = schema;
  return {
    ...schema,
    ...Object.fromEntries(INNER.filter(name => name in schema).map(name => [name, completeInner(schema[name])])),
    ...(isJsonObject(properties) ? completeFields(properties, isJsonList(required) ? required : []) : {}),
  };
}

function completeInner(value: Json = null): Json {
  if (isJsonList(value)) return value.map(completeInner);
  return isJsonObject(value) ? complete(value) : value;
}

function completeFields(properties: JsonObject, required: readonly Json[]): JsonObject {
  const fields = Object.entries(properties);
  const present = fields.filter(([name, field]) => required.includes(name) || (isJsonObject(field) && 'default' in field));
  return {
    required: present.map(([name]) => name),
    properties: Object.fromEntries(fields.map(([name, field]) => [name, completeInner(field)])),
  };
}
