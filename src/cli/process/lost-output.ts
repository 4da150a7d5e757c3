/** Handles output that cannot be written. The work continues; if output is lost while it still has a reader, the exit code is not 0. */
import { hasCode } from '../../base/system-error.js';
import { EXIT } from './exit-code.js';

/** The reader may leave early (`tanren plugins | head`), or the terminal may be closed. Then no one waits for the lost output. */
const NOBODY_LISTENS = ['EPIPE', 'EIO', 'ERR_STREAM_DESTROYED'];

export function watchOutput(): void {
  let lost: Error | undefined;
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', error => {
      if (!hasCode(error, ...NOBODY_LISTENS)) lost ??= error;
    });
  }
  process.on('exit', code => {
    if (lost === undefined) return;
    process.stderr.write(
      `error[output-not-written]: the output cannot be written: ${lost.message}\n  help: the work itself is done; free space, and run the command again\n`,
    );
    if (code === EXIT.built) process.exitCode = EXIT.failed;
  });
}
