/** Short forms of JSON Schema for contracts of files: most fields are required, unknown fields are refused, and lists are not empty. */
import type { Json, JsonObject } from '../json.js';
import { keysOf } from '../keys-of.js';
import { type FromSchema, type SchemaOf, schemaOf } from './from-schema.js';

/** Descriptions are for readers of the schema and of its tables. */
interface Described {
  readonly description?: string;
}

function described(description: string | undefined): Described {
  return description === undefined ? {} : { description };
}

/** A string that is not empty. */
export function text(description?: string) {
  return { type: 'string', minLength: 1, ...described(description) } as const;
}

/** A string that may be empty. */
export function anyText(description?: string) {
  return { type: 'string', ...described(description) } as const;
}

/** A string that matches `pattern`. `title` completes the message "should be …". */
export function matching(pattern: RegExp, title: string, description?: string) {
  return { type: 'string', pattern: pattern.source, title, ...described(description) } as const;
}

interface Bounds {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
}

export function number(bounds: Bounds = {}, description?: string) {
  return { type: 'number', ...bounds, ...described(description) } as const;
}

/** An integer that JSON represents exactly, of at least `minimum`. */
export function integer(minimum: number, description?: string) {
  return { type: 'integer', minimum, ...described(description) } as const;
}

export function flag(description?: string) {
  return { type: 'boolean', ...described(description) } as const;
}

/** One of a few values. */
export function oneOf<const Values extends readonly (string | number)[]>(values: Values, description?: string) {
  return { enum: values, ...described(description) } as const;
}

/** Exactly this value. */
export function constant<const Value extends string | number | boolean>(value: Value) {
  return { const: value } as const;
}

/** A list with at least one item. */
export function list<const Items extends JsonObject>(items: Items, description?: string) {
  return { type: 'array', items, minItems: 1, ...described(description) } as const;
}

/** A list that may be empty. */
export function anyList<const Items extends JsonObject>(items: Items, description?: string) {
  return { type: 'array', items, ...described(description) } as const;
}

/** A list of `length` items. */
export function listOf<const Items extends JsonObject>(length: number, items: Items, description?: string) {
  return { type: 'array', items, minItems: length, maxItems: length, ...described(description) } as const;
}

/** A list whose items have places: `required`, then `optional`. Readers drop further items. */
export function tuple<const Required extends readonly JsonObject[], const Optional extends readonly JsonObject[] = readonly []>(
  required: Required,
  optional?: Optional,
): SchemaOf<readonly [...FromSchemas<Required>, ...Partial<FromSchemas<Optional>>]> {
  return schemaOf({ type: 'array', items: [...required, ...(optional ?? [])], minItems: required.length });
}

type FromSchemas<Schemas extends readonly JsonObject[]> = { readonly [Index in keyof Schemas]: FromSchema<Schemas[Index]> };

/** An object with members of any name. `names` restricts them; its title completes the message "should be …". */
export function mapOf<const Member extends JsonObject>(
  member: Member,
  { names, description }: { readonly names?: ReturnType<typeof matching>; readonly description?: string } = {},
) {
  return {
    type: 'object',
    additionalProperties: member,
    ...(names === undefined ? {} : { propertyNames: { pattern: names.pattern, title: names.title } }),
    ...described(description),
  } as const;
}

/** Any JSON object. */
export function anyObject(description?: string) {
  return { type: 'object', ...described(description) } as const;
}

/** null, for a value that is known to be absent. */
export const NULL = { type: 'null' } as const satisfies JsonObject;

/** Any JSON value. */
export const ANYTHING = {} as const satisfies JsonObject;

/** One of several forms. Forms of one type are objects that a field with constants distinguishes. */
export function anyOf<const Forms extends readonly JsonObject[]>(forms: Forms, description?: string) {
  return { anyOf: forms, ...described(description) } as const;
}

type NoFields = Readonly<Record<never, Json>>;

/** An object with these fields and no others. */
export function object<const Required extends JsonObject, const Optional extends JsonObject = NoFields>(
  required: Required,
  optional?: Optional,
  description?: string,
) {
  return { ...openObject(required, optional, description), additionalProperties: false } as const;
}

/** An object with at least these fields; readers drop others. For data to which other versions may add fields. */
export function openObject<const Required extends JsonObject, const Optional extends JsonObject = NoFields>(
  required: Required,
  optional?: Optional,
  description?: string,
) {
  const properties = { ...required, ...optional } as Required & Optional;
  return { type: 'object', required: keysOf(required), properties, ...described(description) } as const;
}
