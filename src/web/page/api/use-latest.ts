/** The last data of a view whose address changes with each build. */
import { useRef } from 'preact/hooks';
import { chooseLatest, type Kept, type Latest } from './choose-latest.js';
import type { ApiError } from './client.js';
import type { Loaded } from './use-data.js';

/** @param of what the data are about, such as a stage: data about something else are never shown. undefined: nothing is shown. */
export function useLatest<T>(loaded: Loaded<T>, of: string | undefined): Latest<T, ApiError> {
  const kept = useRef<Kept<T>>();
  const [latest, next] = chooseLatest(loaded, of, kept.current);
  kept.current = next;
  return latest;
}
