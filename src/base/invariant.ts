/** Internal errors for defects of our own code: exit code 70, with a stack trace. */

/** A defect of Tanren, not of its input. */
export class InternalError extends Error {
  override readonly name = 'InternalError';
}

/** Throws InternalError unless `condition` holds. For guarantees of our own code; parsers check input with typed errors. */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InternalError(message);
}

/** Returns `value`, or throws InternalError if it is undefined. */
export function getDefined<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new InternalError(`${what} is undefined`);
  return value;
}
