/** Data of the server by address: fetched when the address changes, and again when the server says that something has changed. */
import { useEffect, useState } from 'preact/hooks';
import { CodedError } from '../../../base/coded-error.js';
import type { Json } from '../../../base/json.js';
import { ApiError, getJson } from './client.js';
import { changes } from './live.js';
import { useStore } from './store.js';

export interface Loaded<T> {
  /** The last answer for this address; it stays while a newer one is on its way. */
  readonly data: T | undefined;
  readonly error: ApiError | undefined;
}

interface Kept<T> extends Loaded<T> {
  readonly of: string | undefined;
}

/**
 * @param path undefined: nothing is asked. @param follow 'once': for data that never changes under its address.
 * @param read checks the answer: for files, which other versions may have written. Answers of the server's own views have its types.
 */
export function useData<T>(
  path: string | undefined,
  follow: 'changes' | 'once' = 'changes',
  read: (answer: Json) => T = answer => answer as T,
): Loaded<T> {
  const change = useStore(changes);
  const [kept, setKept] = useState<Kept<T>>({ of: path, data: undefined, error: undefined });
  useEffect(() => {
    if (path === undefined) return undefined;
    const controller = new AbortController();
    const answer = getJson<Json>(path, controller.signal).then(read);
    answer.then(
      data => setKept(before => (isSame(before, path, data) ? before : { of: path, data, error: undefined })),
      (error: unknown) => {
        if (!controller.signal.aborted)
          setKept(before => ({ of: path, data: before.of === path ? before.data : undefined, error: asApiError(error) }));
      },
    );
    return () => controller.abort();
  }, [path, follow === 'once' ? 0 : change]);
  return kept.of === path ? kept : { data: undefined, error: undefined };
}

/** An equal answer draws nothing again. */
function isSame<T>({ of, data, error }: Kept<T>, path: string, next: T): boolean {
  return of === path && error === undefined && data !== undefined && withoutVersion(data) === withoutVersion(next);
}

function withoutVersion(data: unknown): string {
  return JSON.stringify(data, (key, value: unknown) => (key === 'version' && typeof value === 'number' ? undefined : value));
}

export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof CodedError) return new ApiError(0, error.code, error.message, error.help);
  return new ApiError(0, 'internal', error instanceof Error ? error.message : String(error));
}
