/** A decoder as a pipeline file states it: without fields that have their default. */
import type { Json, JsonObject } from '../../../../base/json.js';
import { isJsonObject } from '../../../../base/json.js';
import type { Decoder } from './decoder.js';
import { DECODER_FORMS } from './decoder-forms.js';

/** `{KIND: {…}}` */
export function formOfDecoder({ kind, ...fields }: Decoder): JsonObject {
  return { [kind]: withoutDefaults({ ...fields }, DECODER_FORMS[kind]) };
}

function withoutDefaults(value: JsonObject, schema: JsonObject): JsonObject {
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const kept = Object.entries(value).flatMap(([key, field]): [string, Json][] => {
    const own = properties[key];
    if (!isJsonObject(own)) return [[key, field]];
    if (own.default !== undefined && JSON.stringify(own.default) === JSON.stringify(field)) return [];
    return [[key, isJsonObject(field) ? withoutDefaults(field, own) : field]];
  });
  return Object.fromEntries(kept);
}
