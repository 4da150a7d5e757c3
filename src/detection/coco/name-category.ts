import type { CocoId } from './coco-id.js';

/** The display name of a category: its name, or its id where it has none. */
export function nameCategory(id: CocoId, categories: ReadonlyMap<CocoId, string>): string {
  return categories.get(id) ?? `category ${id}`;
}
