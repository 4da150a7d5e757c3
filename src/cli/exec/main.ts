/** The program that a remote worker starts: `node exec-action.cjs`, in the input root of an action. It has no other code of the command line. */
import { fileURLToPath } from 'node:url';
import { runExecAction } from './exec-action.js';

const ended = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => ended.abort(new Error(`${signal} arrived`)));

/** This module is `src/cli/exec/main.js` of the runtime, whether or not it is bundled. */
const installRoot = fileURLToPath(new URL('../../..', import.meta.url));
void runExecAction(process.argv[2] ?? '.', installRoot, ended.signal).then(code => {
  process.exitCode = code;
});
