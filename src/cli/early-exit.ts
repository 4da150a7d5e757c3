/** What if the process ends before the work is done, without an error? A plugin's declaration runs in it, and may call process.exit, or wait for what never comes. */
import { EXIT } from './exit-code.js';
import { isForced } from './interruption.js';

let hasForeignCode = false;

/** From now on a plugin of a third party is in the process: an early end is its mistake, and not an internal error. */
export function noteForeignCode(): void {
  hasForeignCode = true;
}

/** From now on an end of the process is said, and is no success. @returns to be called when the work is done. */
export function watchForEarlyExit(): () => void {
  let crashed = false;
  const crash = (): void => {
    crashed = true;
  };
  const say = (): void => {
    if (isForced()) return;
    process.exitCode = hasForeignCode ? EXIT.usage : EXIT.internal;
    // Node has said why, with the stack.
    if (crashed) return;
    process.stderr.write(
      'error[ended-early]: the process ended before the work was done\n' +
        "  help: most likely a plugin's module calls process.exit(), or awaits what never comes, outside its `run`: take it out under `plugins` and try again\n",
    );
  };
  process.on('uncaughtExceptionMonitor', crash);
  process.on('exit', say);
  return () => {
    process.off('exit', say);
    process.off('uncaughtExceptionMonitor', crash);
  };
}
