/** Branded types, which keep strings and numbers of different meanings apart. */

declare const brand: unique symbol;

/** A `T` that cannot be assigned from a plain `T`. Mint with one `as` in the parser or hasher that owns the brand. */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name };
