/** How are two strings of different meaning kept apart? By a brand that only a minting function can add. */

declare const brand: unique symbol;

/** A `T` that cannot be assigned from a plain `T`. Mint with one `as` in the parser or hasher that owns the brand. */
export type Brand<T, Name extends string> = T & { readonly [brand]: Name };
