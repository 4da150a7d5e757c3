/** What do all decoded protobuf messages have in common, and what does a field table say of one field? */

export interface Message {
  /** Fields that the table does not know (or that are kept opaque), tag included, in file order. Written last. */
  readonly unknown?: readonly Uint8Array[] | undefined;
  /** Set by decoding: where the message's content lies in the decoded bytes. Ignored by encoding. */
  readonly contentStart?: number;
  readonly contentEnd?: number;
  /** Set for encoding only: the message's content as bytes, written instead of any field. */
  readonly encoded?: Uint8Array;
}

export type ScalarKind = 'float' | 'double' | 'int32' | 'int64' | 'uint64' | 'string' | 'bytes';

/** One field: `kind` is a scalar type or the name of a message. `packed` says how it is written; both forms are read. */
export interface Field<MessageName extends string = string> {
  readonly id: number;
  readonly name: string;
  readonly kind: ScalarKind | MessageName;
  readonly form: 'single' | 'repeated' | 'packed';
}

/** A field of the message type `T`. */
export type FieldOf<T, MessageName extends string> = Field<MessageName> & { readonly name: Exclude<keyof T, keyof Message> & string };
