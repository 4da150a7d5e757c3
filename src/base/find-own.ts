/** The member of a record by a name that a user chose: one such as "constructor" is found only where the record has it. */
export function findOwn<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
