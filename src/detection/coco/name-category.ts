/** The display name of a category: its name, or its id where it has none. */
export function nameCategory(id: number, categories: ReadonlyMap<number, string>): string {
  return categories.get(id) ?? `category ${id}`;
}
