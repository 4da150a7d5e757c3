/** Checks params with ajv, with the settings of the pipeline file. */
import { Ajv } from 'ajv';
import type { JsonObject } from '../../src/base/json.js';

/** A function that copies params, fills defaults, and throws every problem in one message. */
export function ajvOf(schema: JsonObject): (params: JsonObject) => unknown {
  const validate = new Ajv({ allErrors: true, useDefaults: true, strict: true, allowUnionTypes: true }).compile(schema);
  return params => {
    const copy = structuredClone(params);
    if (validate(copy)) return copy;
    throw new Error((validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`).join('\n'));
  };
}
