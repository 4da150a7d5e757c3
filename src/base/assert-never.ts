/** How does a switch over a closed union prove that it is complete? */
import { InternalError } from './invariant.js';

/** Never returns. A new member of the union that a switch forgot is a type error at the call. */
export function assertNever(value: never): never {
  throw new InternalError(`unexpected case: ${JSON.stringify(value)}`);
}
