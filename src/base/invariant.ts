/** What happens when our own code is wrong? An internal error: exit code 70, with its stack. */

/** A defect of Tanren, never of its input. */
export class InternalError extends Error {
  override readonly name = 'InternalError';
}

/** Throws InternalError unless `condition` holds. For what our own code guarantees; input is checked by parsers with typed errors. */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InternalError(message);
}

/** Returns `value`, or throws InternalError where it is undefined. */
export function getDefined<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new InternalError(`${what} is undefined`);
  return value;
}
