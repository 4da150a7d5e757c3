/** Garbage collection at a chosen moment: buffers of hundreds of megabytes that nothing reads any more are freed before a library needs as much. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Frees what is not reachable, also the buffers outside of V8's heap, before it returns. It takes some ten milliseconds. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  // Otherwise a thread frees the buffers some time later.
  setFlagsFromString('--no-concurrent-array-buffer-sweeping');
  const collect: unknown = runInNewContext('gc');
  if (typeof collect !== 'function') return;
  collect();
}
