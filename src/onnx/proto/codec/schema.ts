/** Which fields does the codec interpret? All of the table, or all but those that a caller wants kept as bytes. */
import { getDefined } from '../../../base/invariant.js';
import { FIELDS, type Messages } from '../generated/messages.js';
import type { Field } from '../message.js';

export type MessageName = keyof Messages;

/** For each message, its fields at the index of their number. */
export type Schema = ReadonlyMap<string, readonly (Field | undefined)[]>;

/** @param opaque  fields as "NodeProto.deviceConfigurations" that decoding keeps among the unknown ones. */
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
  return getDefined(schema.get(message), `the schema's message ${message}`);
}
