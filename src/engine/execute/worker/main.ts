/** The main module of a worker that loads its plugin from a module. Workers of built-in plugins have a bundle instead, which scripts/build.mjs writes. */
import { loadPlugin } from './load-plugin.js';
import { runWorker } from './run-worker.js';

await runWorker(loadPlugin);
