/** Values of a decoded pickle: plain data, names of Python callables, and objects that hooks create. */

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

/** The full name of a Python class or function. */
export interface PickleGlobal {
  readonly kind: 'global';
  readonly path: string;
}

/** Hooks for the few permitted calls of a pickle. */
export interface PickleHooks<T> {
  /** Whether `path` is on the allow-list. */
  readonly isAllowed: (path: string) => boolean;
  /** The result of a call of the allowed `path`. */
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
