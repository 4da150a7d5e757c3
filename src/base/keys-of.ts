/** Own keys of a table with known names, with their type. */

/** The caller ensures that `table` has no keys beyond those of its type, as with a literal. */
export function keysOf<T extends object>(table: T): readonly (keyof T & string)[] {
  return Object.keys(table) as (keyof T & string)[];
}
