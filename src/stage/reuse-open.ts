/** Reuse of an open resource, such as a model session, from one part of a stage's work to the next. */
import { stat } from 'node:fs/promises';
import type { Json } from '../base/json.js';

export interface Closable {
  close(): Promise<void>;
}

/** Returns the open resource of `key`, or closes the resource of another key and opens this one. */
export type OpenOrReuse<Resource extends Closable> = (key: string, open: () => Promise<Resource>) => Promise<Resource>;

/** At most one resource is open at a time. Calls must not overlap. */
export function makeOpenOrReuse<Resource extends Closable>(): OpenOrReuse<Resource> {
  let current: { readonly key: string; readonly resource: Resource } | undefined;
  return async (key, open) => {
    if (current?.key === key) return current.resource;
    const previous = current;
    current = undefined;
    await previous?.resource.close();
    const resource = await open();
    current = { key, resource };
    return resource;
  };
}

/** As `makeOpenOrReuse` for what is opened from one file: a replaced file is opened again. `settings` are the other things that the resource depends on. */
export function makeOpenFile<Resource extends Closable>() {
  const openOrReuse = makeOpenOrReuse<Resource>();
  return async (path: string, settings: Json, open: () => Promise<Resource>): Promise<Resource> =>
    openOrReuse(JSON.stringify([settings, ...(await stampFile(path))]), open);
}

/** A resource that goes through layers in their order and cannot go back. */
export interface Advancing extends Closable {
  /** Index of the next layer. */
  next(): number;
}

/** Like `makeOpenOrReuse`; a resource that is past `layer` is closed and opened again. */
export function makeOpenAtLayer<Resource extends Advancing>() {
  const openOrReuse = makeOpenOrReuse<Resource>();
  let generation = 0;
  let current: Resource | undefined;
  return async (key: string, layer: number, open: () => Promise<Resource>): Promise<Resource> => {
    if (current !== undefined && current.next() > layer) generation++;
    current = await openOrReuse(JSON.stringify([key, generation]), open);
    return current;
  };
}

/** Path, times, size and inode of a file, for keys: a path alone does not reveal that the file was replaced. */
export async function stampFile(path: string): Promise<readonly (string | number)[]> {
  const { mtimeMs, ctimeMs, size, ino } = await stat(path);
  return [path, mtimeMs, ctimeMs, size, ino];
}
