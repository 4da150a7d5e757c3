/** What can a pickle hold? Plain data, names of Python callables, and objects that the reader's own hooks made. */

export type PickleValue<T> =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | PickleSequence<T>
  | PickleDict<T>
  | PickleGlobal
  | { readonly kind: 'object'; readonly value: T };

export interface PickleSequence<T> {
  readonly kind: 'list' | 'tuple' | 'set';
  readonly items: PickleValue<T>[];
}

export interface PickleDict<T> {
  readonly kind: 'dict';
  readonly entries: [key: PickleValue<T>, value: PickleValue<T>][];
}

/** A Python class or function by its full name. A name, nothing more. */
export interface PickleGlobal {
  readonly kind: 'global';
  readonly path: string;
}

/** What the pickle's few permitted calls mean. */
export interface PickleHooks<T> {
  /** Is `path` on the allow-list? */
  readonly isAllowed: (path: string) => boolean;
  /** The value of calling the allowed `path`. */
  readonly call: (path: string, args: readonly PickleValue<T>[]) => PickleValue<T>;
  /** The value of a persistent id. */
  readonly load: (id: PickleValue<T>) => PickleValue<T>;
}

export function isKind<T, K extends 'list' | 'tuple' | 'set' | 'dict' | 'global' | 'object'>(
  value: PickleValue<T> | undefined,
  kind: K,
): value is Extract<PickleValue<T>, { readonly kind: K }> | (PickleSequence<T> & { readonly kind: K }) {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === kind;
}
