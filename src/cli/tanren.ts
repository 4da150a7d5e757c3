#!/usr/bin/env node
/** The executable: runs `main` and exits with its exit code. */
import { watchForEarlyExit } from './early-exit.js';
import { withSignal } from './interruption.js';
import { watchOutput } from './lost-output.js';
import { main } from './main.js';

watchOutput();
const done = watchForEarlyExit();
const exitCode = await main(process.argv.slice(2));
done();
process.exitCode = withSignal(exitCode);
