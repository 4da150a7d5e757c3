/** A setting of V8's optimizing compiler: how long a function runs before it is optimized. */
import { setFlagsFromString } from 'node:v8';

/** The last major version of V8 with the flag (Node 20). Later versions count invocations, have a cheaper compiler before this one, and refuse the flag. */
const LAST_V8 = 11;

/** From now on, V8 optimizes a function after it has run for about this many bytes of bytecode; V8's own value is 135,000. Without effect in Node 22 and later. */
export function optimizeAfter(bytecodeBytes: number): void {
  if (Number.parseInt(process.versions.v8, 10) <= LAST_V8) setFlagsFromString(`--interrupt-budget=${bytecodeBytes}`);
}
