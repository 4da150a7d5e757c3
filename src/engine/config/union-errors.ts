/** Errors of unions whose forms are told apart by a constant, such as `kind: mse`: only those of the form that a value names. */
import type { ErrorObject } from 'ajv';
import type { Json } from '../../base/json.js';

/**
 * Of each such union only the errors of the forms whose constant the value has. If it has that of none, one error of keyword `enum` that lists the constants.
 * Errors of other unions stay.
 */
export function keepNamedForms(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const unions = errors.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf');
  // The outer ones first: what is inside a form that is not meant is gone then.
  const outerFirst = [...unions].sort((a, b) => a.schemaPath.length - b.schemaPath.length);
  return outerFirst.reduce<readonly ErrorObject[]>((left, union) => (left.includes(union) ? keepNamed(left, union) : left), errors);
}

interface Mismatch {
  readonly form: number;
  readonly key: string;
  readonly error: ErrorObject;
}

function keepNamed(errors: readonly ErrorObject[], union: ErrorObject): readonly ErrorObject[] {
  const mismatches = errors.flatMap(error => findMismatch(error, union) ?? []);
  const [first] = mismatches;
  if (first === undefined) return errors;
  const constants = constantsOf(union, first.key);
  const others = new Set(mismatches.map(({ form }) => form));
  const named = [...constants.keys()].filter(form => !others.has(form));
  const kept = errors.filter(error => {
    const form = formOf(error, union);
    return form === undefined || named.includes(form);
  });
  if (named.length > 0) return kept;
  const allowedValues = [...new Set(constants.values())];
  return [...kept, { ...first.error, keyword: 'enum', params: { allowedValues } }];
}

/** If `error` says that the value has not the constant of one of the union's forms. */
function findMismatch(error: ErrorObject, union: ErrorObject): Mismatch | undefined {
  const form = formOf(error, union);
  if (error.keyword !== 'const' || form === undefined) return undefined;
  const [, key] = /^properties\/([^/]+)\/const$/.exec(error.schemaPath.slice(`${union.schemaPath}/${form}/`.length)) ?? [];
  return key !== undefined && error.instancePath === `${union.instancePath}/${key}` ? { form, key, error } : undefined;
}

/** The index of the form of `union` that `error` lies in. */
function formOf(error: ErrorObject, { schemaPath, instancePath }: ErrorObject): number | undefined {
  if (!error.schemaPath.startsWith(`${schemaPath}/`) || !error.instancePath.startsWith(instancePath)) return undefined;
  const [, form] = /^(\d+)(\/|$)/.exec(error.schemaPath.slice(schemaPath.length + 1)) ?? [];
  return form === undefined ? undefined : Number(form);
}

/** The constant that each form has for `key`; forms without one are left out. */
function constantsOf(union: ErrorObject, key: string): ReadonlyMap<number, Json> {
  const forms: readonly FormSchema[] = Array.isArray(union.schema) ? union.schema : [];
  return new Map(
    forms.flatMap((form, index) => {
      const constant = form.properties?.[key]?.const;
      return constant === undefined ? [] : [[index, constant] as const];
    }),
  );
}

interface FormSchema {
  readonly properties?: Readonly<Record<string, { readonly const?: Json }>>;
}
