/** Checks params with ajv, with the settings of the pipeline file. */
import { Ajv } from 'ajv';
import type { JsonObject } from '../../src/base/json.js';

/** Cache: a build compiles a schema once, too. */
const COMPILED = new WeakMap<JsonObject, ReturnType<Ajv['compile']>>();

/** A function that copies params, fills defaults, and throws every problem in one message. */
export function ajvOf(schema: JsonObject): (params: JsonObject) => unknown {
  const validate =
    COMPILED.get(schema) ?? new Ajv({ allErrors: true, useDefaults: true, strict: true, allowUnionTypes: true }).compile(schema);
  COMPILED.set(schema, validate);
  return params => {
    const copy = structuredClone(params);
    if (validate(copy)) return copy;
    throw new Error((validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`).join('\n'));
  };
}
