/** What is a category called? By its name, else by its id. */
export function nameCategory(id: number, categories: ReadonlyMap<number, string>): string {
  return categories.get(id) ?? `category ${id}`;
}
