/** Compile-time check that a switch over a closed union is exhaustive. */
import { InternalError } from './invariant.js';

/** Never returns. A member of the union that a switch does not handle is a type error at the call. */
export function assertNever(value: never): never {
  throw new InternalError(`unexpected case: ${JSON.stringify(value)}`);
}
