/** Readers of JSON files from their JSON Schema: the typed value, or every problem with its path. */
import { invariant } from '../invariant.js';
import {
  anyList,
  anyText,
  describeFound,
  fields,
  flag,
  integer,
  type JsonProblem,
  type JsonReader,
  list,
  literal,
  maybe,
  number,
  record,
  someFields,
  text,
} from '../json/json-shape.js';
import { isJsonList, isJsonObject, type Json, type JsonObject } from '../json.js';
import type { FromSchema } from './from-schema.js';

/**
 * A reader of the values that `schema` describes. It fills no defaults: fields with a default must be present. Fields that the schema does not list are
 * dropped unless it refuses them.
 * It accepts what ajv accepts, except that numbers are finite, and integers are safe.
 * @throws Error if the schema has a keyword that readers do not know, so that none is ignored.
 */
export function readerOf<const Schema extends JsonObject>(schema: Schema): JsonReader<FromSchema<Schema>> {
  // `readJson` gives what the schema describes, as `FromSchema` states it; the tests compare both with ajv.
  return readJson(schema) as JsonReader<FromSchema<Schema>>;
}

/** Adds checks that JSON Schema cannot express. They run on values that the schema accepts. */
export function withChecks<T>(reader: JsonReader<T>, check: (value: T) => readonly JsonProblem[]): JsonReader<T> {
  return (value, path, problems) => {
    const before = problems.length;
    const read = reader(value, path, problems);
    if (read === undefined || problems.length > before) return read;
    for (const { path: below, message } of check(read)) problems.push({ path: [path, below].filter(Boolean).join('.'), message });
    return read;
  };
}

const ANNOTATIONS: readonly string[] = ['description', 'default', 'title'];

type Reader = JsonReader<Json>;
type Literal = string | number | boolean;

function readJson(schema: JsonObject): Reader {
  if ('const' in schema) return readLiterals(schema, 'const', [schema.const ?? null]);
  if (isJsonList(schema.enum)) return readLiterals(schema, 'enum', schema.enum);
  const forms = schema.anyOf ?? schema.oneOf;
  if (isJsonList(forms)) return readForms(schema, forms.filter(isJsonObject));
  switch (schema.type) {
    case undefined:
      checkKeywords(schema, []);
      return value => value ?? null;
    case 'string':
      return readString(schema);
    case 'number': {
      checkKeywords(schema, ['minimum', 'maximum', 'exclusiveMinimum']);
      const { minimum: min, maximum: max, exclusiveMinimum: above } = schema;
      return number({ ...given('min', min), ...given('max', max), ...given('above', above) });
    }
    case 'integer':
      checkKeywords(schema, ['minimum']);
      return integer(typeof schema.minimum === 'number' ? schema.minimum : Number.NEGATIVE_INFINITY);
    case 'null':
      checkKeywords(schema, []);
      return readNull;
    case 'boolean':
      checkKeywords(schema, []);
      return flag();
    case 'array':
      return readList(schema);
    case 'object':
      return readObject(schema);
    default:
      throw new Error(`a reader of the type ${JSON.stringify(schema.type)} is not supported`);
  }
}

function given<Name extends string>(name: Name, value: Json | undefined): { readonly [N in Name]?: number } | undefined {
  return typeof value === 'number' ? ({ [name]: value } as { readonly [N in Name]: number }) : undefined;
}

function checkKeywords(schema: JsonObject, known: readonly string[]): void {
  const unknown = Object.keys(schema).find(name => name !== 'type' && !known.includes(name) && !ANNOTATIONS.includes(name));
  if (unknown !== undefined) throw new Error(`readers do not know the keyword "${unknown}" of ${JSON.stringify(schema)}`);
}

function isLiteral(value: Json): value is Literal {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

function readLiterals(schema: JsonObject, keyword: string, values: readonly Json[]): Reader {
  checkKeywords(schema, [keyword]);
  invariant(values.every(isLiteral), 'literals of a contract are strings, numbers or booleans');
  return literal(...values.filter(isLiteral));
}

function readString(schema: JsonObject): Reader {
  checkKeywords(schema, ['minLength', 'pattern']);
  const { pattern, title, minLength } = schema;
  if (typeof pattern !== 'string') return minLength === undefined ? anyText() : text();
  const expression = new RegExp(pattern, 'u');
  const expected = typeof title === 'string' ? title : `text that matches ${pattern}`;
  return (value, path, problems) => {
    if (typeof value === 'string' && expression.test(value)) return value;
    problems.push({ path, message: `should be ${expected}, ${describeFound(value)}` });
    return undefined;
  };
}

function readList(schema: JsonObject): Reader {
  checkKeywords(schema, ['items', 'minItems', 'maxItems']);
  const { minItems = 0, maxItems } = schema;
  if (isJsonList(schema.items)) return readTuple(schema.items.filter(isJsonObject), minItems);
  const items = readJson(isJsonObject(schema.items) ? schema.items : {});
  if (maxItems !== undefined) {
    invariant(minItems === maxItems && typeof maxItems === 'number', 'a list of a contract has a fixed length or no maximum');
    return list(items, { length: maxItems });
  }
  return minItems === 0 ? anyList(items) : list(items);
}

/** Items with places, of which at least `least` are present. Further items are dropped. */
function readTuple(items: readonly JsonObject[], least: Json): Reader {
  const readers = items.map((item, index) => (index < Number(least) ? readJson(item) : maybe(readJson(item))));
  return (value, path, problems) => {
    if (!isJsonList(value)) {
      problems.push({ path, message: `should be a list, ${describeFound(value)}` });
      return undefined;
    }
    return readers.flatMap((read, index) => read(value[index], `${path}[${index}]`, problems) ?? []);
  };
}

function readObject(schema: JsonObject): Reader {
  const { properties, additionalProperties } = schema;
  if (isJsonObject(properties)) {
    checkKeywords(schema, ['properties', 'required', 'additionalProperties', 'minProperties']);
    const required = isJsonList(schema.required) ? schema.required : [];
    const readers = Object.entries(properties).map(([name, member]): [string, Reader] => {
      invariant(isJsonObject(member), 'a property has a schema');
      const reader = readJson(member);
      return [name, required.includes(name) || 'default' in member ? reader : maybe(reader)];
    });
    const known: Readonly<Record<string, Reader>> = Object.fromEntries(readers);
    return withLeast(schema, additionalProperties === false ? fields<JsonObject>(known) : someFields<JsonObject>(known));
  }
  checkKeywords(schema, ['additionalProperties', 'propertyNames', 'minProperties']);
  const member = isJsonObject(additionalProperties) ? additionalProperties : undefined;
  const members =
    member === undefined && schema.propertyNames === undefined
      ? readAnyObject
      : record(readJson(member ?? {}), nameCheck(schema.propertyNames));
  return withLeast(schema, members);
}

const readNull: Reader = (value, path, problems) => {
  if (value !== null) problems.push({ path, message: `should be null, ${describeFound(value)}` });
  return null;
};

const readAnyObject: Reader = (value, path, problems) => {
  if (isJsonObject(value)) return value;
  problems.push({ path, message: `should be an object, ${describeFound(value)}` });
  return undefined;
};

/** An object with at least `minProperties` members, which is 1 in all contracts. */
function withLeast({ minProperties }: JsonObject, reader: Reader): Reader {
  if (minProperties === undefined) return reader;
  invariant(minProperties === 1, 'objects of a contract have any number of members, or at least one');
  return (value, path, problems) => {
    if (!isJsonObject(value) || Object.keys(value).length > 0) return reader(value, path, problems);
    problems.push({ path, message: 'should not be empty' });
    return undefined;
  };
}

function nameCheck(names: Json | undefined): (name: string) => string | undefined {
  if (!isJsonObject(names)) return () => undefined;
  if (isJsonList(names.enum)) {
    checkKeywords(names, ['enum']);
    const allowed = names.enum;
    return name => (allowed.includes(name) ? undefined : `should be one of ${allowed.join(', ')}`);
  }
  checkKeywords(names, ['pattern']);
  const expression = new RegExp(String(names.pattern), 'u');
  return name => (expression.test(name) ? undefined : `should be ${String(names.title)}`);
}

/**
 * Forms differ in their type; objects differ in a field that has constants in all forms. If no form has the type, the title says what was expected, or else
 * the last form.
 */
function readForms(schema: JsonObject, forms: readonly JsonObject[]): Reader {
  checkKeywords(schema, ['anyOf', 'oneOf']);
  const objects = forms.filter(form => typeOf(form) === 'object');
  const others = forms.filter(form => typeOf(form) !== 'object');
  const readers = [
    ...others.map(form => ({ type: typeOf(form), read: readJson(form) })),
    ...(objects.length === 0 ? [] : [{ type: 'object', read: objects.length === 1 ? readJson(objects[0] ?? {}) : readVariants(objects) }]),
  ];
  invariant(new Set(readers.map(({ type }) => type)).size === readers.length, 'forms of a contract have different types');
  const last = readers.at(-1);
  invariant(last !== undefined, 'a contract has at least one form');
  return (value, path, problems) => {
    const type = Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value;
    const form = readers.find(one => one.type === type);
    if (form !== undefined || typeof schema.title !== 'string') return (form ?? last).read(value, path, problems);
    problems.push({ path, message: `should be ${schema.title}, ${describeFound(value)}` });
    return undefined;
  };
}

function typeOf({ type, const: only, enum: values }: JsonObject): string {
  if (only !== undefined) return typeof only;
  if (isJsonList(values)) return typeof values[0];
  return type === 'integer' ? 'number' : String(type);
}

/** Objects that a field with constants distinguishes: the first field that all have with constants. */
function readVariants(forms: readonly JsonObject[]): Reader {
  const tables = forms.map(form => (isJsonObject(form.properties) ? form.properties : {}));
  const tag = Object.keys(tables[0] ?? {}).find(name => tables.every(table => literalsOf(table[name]).length > 0));
  invariant(tag !== undefined, 'a field distinguishes the forms of a contract');
  const variants = forms.flatMap((form, index) => {
    const read = readJson(form);
    return literalsOf(tables[index]?.[tag]).map(value => [value, read] as const);
  });
  const byTag = new Map(variants);
  const readTag = literal(...byTag.keys());
  return (value, path, problems) => {
    const named = isJsonObject(value) ? value[tag] : undefined;
    const found = named !== undefined && isLiteral(named) ? byTag.get(named) : undefined;
    if (found !== undefined) return found(value, path, problems);
    readTag(named, path === '' ? tag : `${path}.${tag}`, problems);
    return undefined;
  };
}

function literalsOf(schema: Json | undefined): readonly Literal[] {
  if (!isJsonObject(schema)) return [];
  if (isJsonList(schema.enum)) return schema.enum.filter(isLiteral);
  return schema.const !== undefined && isLiteral(schema.const) ? [schema.const] : [];
}
