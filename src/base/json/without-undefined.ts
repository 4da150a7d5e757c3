/** Objects without their undefined members, because JSON has none. */

type WithoutUndefined<T> = { readonly [Name in keyof T as undefined extends T[Name] ? never : Name]: T[Name] } & {
  readonly [Name in keyof T as undefined extends T[Name] ? Name : never]?: Exclude<T[Name], undefined>;
};

/** A copy of `value` without its undefined members, in the same order. */
export function withoutUndefined<T extends object>(value: T): WithoutUndefined<T> {
  // The filter removes exactly the members that the type makes optional.
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as WithoutUndefined<T>;
}
