#!/usr/bin/env node
/** The executable: answers a build with nothing to do at once; in all other cases it loads the command line. */
import { hasCode, OPEN_FILES_LIMIT } from '../base/system-error.js';
import { answerQuickly } from './quick-answer.js';

const done = answerQuickly(process.argv.slice(2));
// Node takes longer to end by itself.
if (done === 'written') process.exit();
if (done === 'load') {
  import('./tanren.js').catch((error: unknown) => {
    if (!hasCode(error, ...OPEN_FILES_LIMIT)) throw error;
    process.stderr.write(
      `error[system-refused]: ${String(error)}\n  help: raise the number of files that a process may open (ulimit -n)\n`,
    );
    process.exitCode = 1;
  });
}
