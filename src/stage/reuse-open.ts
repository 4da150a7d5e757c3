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
  /** Number of layers. */
  readonly count: number;
  /** Index of the next layer. */
  next(): number;
}

export interface LayerUse<Resource> {
  readonly key: string;
  /** The layer that the resource must not be past: if it is, it is closed and opened again. */
  readonly layer: number;
  open(): Promise<Resource>;
}

/** Uses the open resource of a key, or closes that of another key and opens this one. Behind its last layer it is closed. Calls must not overlap. */
export function makeUseAtLayer<Resource extends Advancing>() {
  let current: { readonly key: string; readonly resource: Resource } | undefined;
  const close = async (): Promise<void> => {
    const former = current;
    current = undefined;
    await former?.resource.close();
  };
  return async <Result>({ key, layer, open }: LayerUse<Resource>, use: (resource: Resource) => Promise<Result>): Promise<Result> => {
    if (current?.key !== key || current.resource.next() > layer) await close();
    current ??= { key, resource: await open() };
    const { resource } = current;
    const result = await use(resource);
    if (resource.next() >= resource.count) await close();
    return result;
  };
}

/** Path, times, size and inode of a file, for keys: a path alone does not reveal that the file was replaced. */
export async function stampFile(path: string): Promise<readonly (string | number)[]> {
  const { mtimeMs, ctimeMs, size, ino } = await stat(path);
  return [path, mtimeMs, ctimeMs, size, ino];
}
