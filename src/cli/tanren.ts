#!/usr/bin/env node
import { main } from './main.js';
/** The executable: runs `main` and exits with its exit code. */
import { watchForEarlyExit } from './process/early-exit.js';
import { withSignal } from './process/interruption.js';
import { watchOutput } from './process/lost-output.js';

watchOutput();
const done = watchForEarlyExit();
const exitCode = await main(process.argv.slice(2));
done();
process.exitCode = withSignal(exitCode);
