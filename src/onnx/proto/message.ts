/** Types of decoded protobuf messages and of their field tables. */

export interface Message {
  /** Fields that are not in the table or are kept opaque, with their tags, in file order. Written last. */
  readonly unknown?: readonly Uint8Array[] | undefined;
  /** Set by decoding: the range of the message's content in the decoded bytes. Ignored by encoding. */
  readonly contentStart?: number;
  readonly contentEnd?: number;
  /** For encoding only: the content of the message as bytes, written instead of the fields. */
  readonly encoded?: Uint8Array;
}

export type ScalarKind = 'float' | 'double' | 'int32' | 'int64' | 'uint64' | 'string' | 'bytes';

/** One field: `kind` is a scalar type or the name of a message. `packed` determines the written form; both forms can be read. */
export interface Field<MessageName extends string = string> {
  readonly id: number;
  readonly name: string;
  readonly kind: ScalarKind | MessageName;
  readonly form: 'single' | 'repeated' | 'packed';
}

/** A field of the message type `T`. */
export type FieldOf<T, MessageName extends string> = Field<MessageName> & { readonly name: Exclude<keyof T, keyof Message> & string };
