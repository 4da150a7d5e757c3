/**
 * Reports an end of the process before the work is done. A plugin's declaration runs in this process;
 * it may call process.exit or await a promise that never settles.
 */
import { EXIT } from './exit-code.js';
import { isForced } from './interruption.js';

let hasForeignCode = false;

/** Notes that third-party plugin code was loaded. From now on an early exit is a usage error, not an internal error. */
export function noteForeignCode(): void {
  hasForeignCode = true;
}

/** From now on an end of the process is reported, and its exit code is not 0. @returns a function to call when the work is done. */
export function watchForEarlyExit(): () => void {
  let crashed = false;
  const crash = (): void => {
    crashed = true;
  };
  const say = (): void => {
    if (isForced()) return;
    process.exitCode = hasForeignCode ? EXIT.usage : EXIT.internal;
    // Node has already printed the error with its stack.
    if (crashed) return;
    process.stderr.write(
      'error[ended-early]: the process ended before the work was done\n' +
        "  help: most likely a plugin's module calls process.exit(), or awaits a promise that never settles, outside its `run`: remove it under `plugins` and try again\n",
    );
  };
  process.on('uncaughtExceptionMonitor', crash);
  process.on('exit', say);
  return () => {
    process.off('exit', say);
    process.off('uncaughtExceptionMonitor', crash);
  };
}
