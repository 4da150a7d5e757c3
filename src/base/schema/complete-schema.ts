/** The schema of complete values: what a schema with defaults describes after its defaults are filled in. */
import { isJsonList, isJsonObject, type Json, type JsonObject } from '../json.js';
import { type FromSchema, type SchemaOf, schemaOf } from './from-schema.js';

/** The same schema where fields with a default are required. Its type is the same: `FromSchema` describes values after defaults are filled in. */
export function completeSchema<const Schema extends JsonObject>(schema: Schema): SchemaOf<FromSchema<Schema>> {
  return schemaOf<FromSchema<Schema>>(complete(schema));
}

function complete({ default: _default, ...schema }: JsonObject): JsonObject {
  const { properties, items, additionalProperties, anyOf } = schema;
  return {
    ...schema,
    ...(isJsonObject(items) ? { items: complete(items) } : {}),
    ...(isJsonObject(additionalProperties) ? { additionalProperties: complete(additionalProperties) } : {}),
    ...(isJsonList(anyOf) ? { anyOf: anyOf.map(completeForm) } : {}),
    ...(isJsonObject(properties) ? completeFields(properties, isJsonList(schema.required) ? schema.required : []) : {}),
  };
}

function completeForm(form: Json): Json {
  return isJsonObject(form) ? complete(form) : form;
}

function completeFields(properties: JsonObject, required: readonly Json[]): JsonObject {
  const fields = Object.entries(properties);
  const present = fields.filter(([name, field]) => required.includes(name) || (isJsonObject(field) && 'default' in field));
  return {
    required: present.map(([name]) => name),
    properties: Object.fromEntries(fields.map(([name, field]) => [name, completeForm(field)])),
  };
}
