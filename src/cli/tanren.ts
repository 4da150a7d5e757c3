#!/usr/bin/env node
/** The executable: runs `main` and leaves with its exit code. */
import { watchForEarlyExit } from './early-exit.js';
import { main } from './main.js';

// Whoever reads the output may leave early (`tanren plugins | head`): the work goes on, unheard.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', error => {
    if (!('code' in error && error.code === 'EPIPE')) throw error;
  });
}

const done = watchForEarlyExit();
const exitCode = await main(process.argv.slice(2));
done();
process.exitCode = exitCode;
