/** What a view shows while its address changes with each build: the former data stay until the newer ones are there. */

/** An answer of the server, or its absence. */
export interface Answer<T, E> {
  readonly data: T | undefined;
  readonly error: E | undefined;
}

export interface Latest<T, E> extends Answer<T, E> {
  /** The data are those of the address before; the newer ones are on their way. */
  readonly isFormer: boolean;
}

export interface Kept<T> {
  /** What the data are about. */
  readonly of: string;
  readonly data: T;
}

/**
 * An error takes the place of former data.
 * @param of what the answer is about, such as a stage: data about something else are never shown. undefined: nothing is shown.
 * @returns what is shown, and what is kept for the next time.
 */
export function chooseLatest<T, E>(
  { data, error }: Answer<T, E>,
  of: string | undefined,
  kept: Kept<T> | undefined,
): readonly [Latest<T, E>, Kept<T> | undefined] {
  if (of === undefined) return [{ data: undefined, error, isFormer: false }, undefined];
  if (data !== undefined)
    return [
      { data, error, isFormer: false },
      { of, data },
    ];
  if (error !== undefined || kept?.of !== of) return [{ data: undefined, error, isFormer: false }, undefined];
  return [{ data: kept.data, error: undefined, isFormer: true }, kept];
}
