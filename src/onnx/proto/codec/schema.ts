/** The fields that the codec interprets: the whole table, or without fields that are kept as bytes. */
import { getDefined } from '../../../base/invariant.js';
import { FIELDS, type Messages } from '../generated/messages.js';
import type { Field } from '../message.js';

export type MessageName = keyof Messages;

/** The fields of each message, indexed by field number. */
export type Schema = ReadonlyMap<string, readonly (Field | undefined)[]>;

/** @param opaque  fields, for example "NodeProto.deviceConfigurations", that decoding keeps as unknown fields. */
export function makeSchema(opaque: readonly string[]): Schema {
  const names = new Set(opaque);
  return new Map(
    Object.entries(FIELDS).map(([message, fields]) => {
      const byId: (Field | undefined)[] = [];
      for (const field of fields as readonly Field[]) {
        if (names.delete(`${message}.${field.name}`)) continue;
        while (byId.length <= field.id) byId.push(undefined);
        byId[field.id] = field;
      }
      return [message, byId] as const;
    }),
  );
}

/** Every field of every message. */
export const WHOLE_SCHEMA = makeSchema([]);

export function getFields(schema: Schema, message: string): readonly (Field | undefined)[] {
  return getDefined(schema.get(message), `message ${message} of the schema`);
}
