/** Lookup of own members of a record by a user-chosen name, so that a name such as "constructor" does not find inherited members. */
export function findOwn<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
