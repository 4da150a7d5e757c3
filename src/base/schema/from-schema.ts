/** The TypeScript type of the values that a JSON Schema describes, for the part of JSON Schema that Tanren's contracts use. */
import type { Json, JsonObject } from '../json.js';

declare const VALUE: unique symbol;

/** A schema whose values have the type `T`, for types that a schema literal cannot express: branded strings, recursive values. */
export type SchemaOf<T> = JsonObject & { readonly [VALUE]: T };

/** Declares that the values of `schema` have the type `T`. The caller ensures it. */
export function schemaOf<T>(schema: JsonObject): SchemaOf<T> {
  return schema as SchemaOf<T>;
}

/**
 * The type of a valid value after defaults are filled in: a property with a default is always present.
 * `Schema` is the type of a literal (`as const`). Keywords that only narrow a value (`minimum`, `pattern`, `minItems`) do not change its type.
 */
export type FromSchema<Schema> = Schema extends { readonly [VALUE]: infer Value }
  ? Value
  : Schema extends { readonly const: infer Value }
    ? Value
    : Schema extends { readonly enum: readonly (infer Value)[] }
      ? Value
      : Schema extends { readonly anyOf: readonly (infer Branch)[] } | { readonly oneOf: readonly (infer Branch)[] }
        ? FromSchema<Branch>
        : Schema extends { readonly type: infer Type }
          ? FromType<Type, Schema>
          : Json;

type FromType<Type, Schema> = Type extends 'string'
  ? string
  : Type extends 'number' | 'integer'
    ? number
    : Type extends 'boolean'
      ? boolean
      : Type extends 'null'
        ? null
        : Type extends 'array'
          ? readonly FromItems<Schema>[]
          : Type extends 'object'
            ? FromObject<Schema>
            : Type extends readonly (infer One)[]
              ? FromType<One, Schema>
              : Json;

type FromItems<Schema> = Schema extends { readonly items: infer Items } ? FromSchema<Items> : Json;

type FromObject<Schema> = Schema extends { readonly properties: infer Properties }
  ? FromProperties<Properties, PresentNames<Schema, Properties>>
  : Schema extends { readonly additionalProperties: infer Member }
    ? Member extends boolean
      ? JsonObject
      : { readonly [name: string]: FromSchema<Member> }
    : JsonObject;

type FromProperties<Properties, Present> = Flat<
  { readonly [Name in keyof Properties as Name extends Present ? Name : never]: FromSchema<Properties[Name]> } & {
    readonly [Name in keyof Properties as Name extends Present ? never : Name]?: FromSchema<Properties[Name]>;
  }
>;

/** Names of properties that are required or have a default. */
type PresentNames<Schema, Properties> =
  | (Schema extends { readonly required: readonly (infer Name)[] } ? Name : never)
  | { [Name in keyof Properties]: Properties[Name] extends { readonly default: unknown } ? Name : never }[keyof Properties];

type Flat<T> = { [Name in keyof T]: T[Name] };
