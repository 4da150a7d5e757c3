/** A setting of V8's optimizing compiler: how long a function runs before it may be optimized. */
import { setFlagsFromString } from 'node:v8';

/** The last major version of V8 with the flag (Node 20). Later versions count invocations, have a cheaper compiler before this one, and refuse the flag. */
const LAST_V8 = 11;

/**
 * From now on, V8 decides whether to optimize a function each time it has run this many bytes of bytecode, at the third time or later.
 * V8's own value in Node 20 is 67,584 (`node --v8-options`). Without effect in Node 22 and later.
 */
export function optimizeAfter(bytecodeBytes: number): void {
  if (Number.parseInt(process.versions.v8, 10) <= LAST_V8) setFlagsFromString(`--interrupt-budget=${bytecodeBytes}`);
}
