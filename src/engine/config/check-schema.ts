/** JSON Schema validation of located values: errors of ajv become diagnostics with file positions. */
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { Json, JsonObject } from '../../base/json.js';
import { findClosest } from '../../base/text/did-you-mean.js';
import type { DiagnosticSink } from '../model/diagnostic.js';
import { type Located, locate, toJson } from './located.js';
import { keepNamedForms } from './union-errors.js';

/**
 * 'foreign': written by a third party, so the schema itself is validated too. 'own': shipped with Tanren.
 * A test validates those schemas, because validation takes longer than all other work here.
 */
export type SchemaOrigin = 'own' | 'foreign';

// Without ajv's optimization of its generated code, which takes as long as all else here and never pays off for a few values.
const OPTIONS = {
  allErrors: true,
  strict: false,
  useDefaults: true,
  verbose: true,
  allowUnionTypes: true,
  code: { optimize: false },
} as const;
const compilers: Partial<Record<SchemaOrigin, Ajv>> = {};
const compiled = new WeakMap<JsonObject, ValidateFunction>();

/** @throws Error from ajv where `schema` is foreign and is not a valid schema. */
export function compileSchema(schema: JsonObject, origin: SchemaOrigin): ValidateFunction {
  const known = compiled.get(schema);
  if (known !== undefined) return known;
  compilers[origin] ??= new Ajv(origin === 'own' ? { ...OPTIONS, meta: false, validateSchema: false } : OPTIONS);
  const validate = compilers[origin].compile(schema);
  compiled.set(schema, validate);
  return validate;
}

/**
 * Returns the JSON of `located` with the schema's defaults filled in, or undefined if it violates the schema. Every violation is then in `diagnostics`.
 * @param what the name of the whole value in messages: 'the pipeline', 'stage "quantize"'.
 */
export function checkSchema(
  { schema, origin }: { readonly schema: JsonObject; readonly origin: SchemaOrigin },
  located: Located,
  code: string,
  what: string,
  diagnostics: DiagnosticSink,
): Json | undefined {
  const validate = compileSchema(schema, origin);
  const value = toJson(located);
  if (validate(value)) return value;
  for (const error of withoutEchoes(keepNamedForms((validate.errors ?? []).slice(0, MAX_ERRORS))))
    report(error, located, code, what, diagnostics);
  return undefined;
}

/** Maximum number of ajv errors that are compared with each other. */
const MAX_ERRORS = 2000;

/** Removes errors that only repeat a deeper error: `anyOf` and `if` wrappers, and the branches of an `anyOf` that the value was not meant to match. */
function withoutEchoes(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const own = errors.filter(error => error.keyword !== 'if');
  const unions = own.filter(error => error.keyword === 'anyOf' || error.keyword === 'oneOf');
  return own.filter(error => {
    const union = unions.find(other => other !== error && error.schemaPath.startsWith(`${other.schemaPath}/`));
    if (union !== undefined) return isDeeper(error, union) && error.keyword !== 'anyOf';
    const covered =
      unions.includes(error) && own.some(other => other.schemaPath.startsWith(`${error.schemaPath}/`) && isDeeper(other, error));
    return !covered;
  });
}

function isDeeper(error: ErrorObject, than: ErrorObject): boolean {
  const inside = error.instancePath.length > than.instancePath.length;
  return inside || error.keyword === 'additionalProperties' || error.keyword === 'required';
}

function report(error: ErrorObject, root: Located, code: string, what: string, diagnostics: DiagnosticSink): void {
  const place = locate(root, error.instancePath);
  const name = error.instancePath === '' ? what : `"${lastKeys(error.instancePath)}" of ${what}`;
  if (error.propertyName !== undefined) {
    const keySpan = locate(root, `${error.instancePath}/${error.propertyName}`).keySpan ?? place.value.span;
    const title = (error.parentSchema as { readonly title?: unknown } | undefined)?.title;
    diagnostics.error(
      'bad-name',
      keySpan,
      `"${error.propertyName}" in ${name} is not ${typeof title === 'string' ? title : 'a valid name'}`,
      typeof title === 'string'
        ? undefined
        : 'names have letters, digits, "_" and "-", and start with a letter or "_"; "__proto__" is reserved',
    );
    return;
  }
  switch (error.keyword) {
    case 'additionalProperties': {
      const key = String(error.params.additionalProperty);
      const known = Object.keys((error.parentSchema?.properties ?? {}) as object);
      const keySpan = locate(root, `${error.instancePath}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).keySpan ?? place.value.span;
      const closest = findClosest(key, known);
      diagnostics.error(
        `unknown-${code}`,
        keySpan,
        `${name} has no "${key}"`,
        `${closest === undefined ? '' : `did you mean "${closest}"? `}it takes ${listOf(known)}`,
      );
      return;
    }
    case 'required':
      diagnostics.error(`missing-${code}`, place.keySpan ?? place.value.span, `${name} needs "${String(error.params.missingProperty)}"`);
      return;
    case 'enum': {
      const allowed = (error.params.allowedValues as Json[]).map(value => String(value));
      const closest = findClosest(String(error.data), allowed);
      diagnostics.error(
        `bad-${code}`,
        place.value.span,
        `${name} is ${JSON.stringify(error.data)}; expected one of ${listOf(allowed)}`,
        closest === undefined ? undefined : `did you mean "${closest}"?`,
      );
      return;
    }
    case 'propertyNames':
      return;
    case 'const':
      diagnostics.error(
        `bad-${code}`,
        place.value.span,
        `${name} must be ${brief(error.params.allowedValue)}; it is ${brief(error.data)}`,
        descriptionOf(error),
      );
      return;
    case 'anyOf':
    case 'oneOf':
      diagnostics.error(
        `bad-${code}`,
        place.value.span,
        `${name} is ${brief(error.data)}, which matches no allowed form`,
        descriptionOf(error),
      );
      return;
    default:
      diagnostics.error(
        `bad-${code}`,
        place.value.span,
        `${name} ${expectationOf(error)}; it is ${brief(error.data)}`,
        descriptionOf(error),
      );
  }
}

function descriptionOf(error: ErrorObject): string | undefined {
  const description = (error.parentSchema as { description?: unknown } | undefined)?.description;
  return typeof description === 'string' ? description : undefined;
}

/** In words of the file's user, not of the schema. The title beside a pattern says it in words. */
function expectationOf({ keyword, parentSchema, params, message = 'is not valid' }: ErrorObject): string {
  const title = (parentSchema as { title?: unknown } | undefined)?.title;
  switch (keyword) {
    case 'pattern':
      return typeof title === 'string' ? `should be ${title}` : message;
    case 'minProperties':
    case 'minItems':
      return `needs at least ${params.limit === 1 ? 'one entry' : `${params.limit} entries`}`;
    case 'minLength':
      return params.limit === 1 ? 'must not be empty' : message;
    case 'type':
      return `must be ${[params.type].flat().map(nameType).join(' or ')}`;
    default:
      return message;
  }
}

const TYPES: Readonly<Record<string, string>> = {
  object: 'a map',
  array: 'a list',
  string: 'a text',
  number: 'a number',
  integer: 'an integer',
  boolean: 'true or false',
  null: 'empty',
};

function nameType(type: unknown): string {
  return TYPES[String(type)] ?? String(type);
}

function brief(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

function lastKeys(pointer: string): string {
  const keys = pointer
    .split('/')
    .slice(1)
    .map(part => part.replaceAll('~1', '/').replaceAll('~0', '~'));
  return keys.join('.');
}

/** Maximum number of names in one message. */
const MAX_LISTED = 40;

export function listOf(names: readonly string[]): string {
  if (names.length === 0) return 'nothing';
  const more = names.length > MAX_LISTED ? `, and ${names.length - MAX_LISTED} more` : '';
  return `${names
    .slice(0, MAX_LISTED)
    .map(name => `"${name}"`)
    .join(', ')}${more}`;
}
