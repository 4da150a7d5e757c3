/**
 * The main module of a standby worker: a process that was started before a stage needed it. It runs one worker's main module, and ends with it.
 * Before that it has loaded this module and the libraries that its arguments name, and nothing of a plugin.
 */
import { createRequire } from 'node:module';
import type { BeginOrder, StandbyReady } from './messages.js';

const load = createRequire(import.meta.url);
for (const library of process.argv.slice(2)) load(library);

const end = (): never => process.exit(0);
process.once('disconnect', end);
process.once('message', ({ main, folder, scratch, env }: BeginOrder) => {
  process.off('disconnect', end);
  for (const name of Object.keys(process.env)) if (!Object.hasOwn(env, name)) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(scratch);
  process.argv = [process.execPath, main, folder];
  load(main);
});
const ready: StandbyReady = { kind: 'standby-ready' };
process.send?.(ready);
