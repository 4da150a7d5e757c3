/**
 * The main module of a standby worker: a process that was started before a stage needed it. It becomes the worker of one action, and ends with it.
 * Before that it has loaded what its argument names: the bundle of a worker, with the modules and libraries that every run of its plugin loads.
 */
import { createRequire } from 'node:module';
import type { BeginOrder, StandbyBegun, StandbyReady, WorkerBundle } from './messages.js';

const load = createRequire(import.meta.url);
const [, , main = ''] = process.argv;
const end = (): never => process.exit(0);
process.once('disconnect', end);

const before = { ...process.env };
const bundle = load(main) as WorkerBundle;
await bundle.prepare();
/** Variables that modules set for themselves when they are loaded, as they do in every worker. */
const own = Object.entries(process.env).filter(([name, value]) => before[name] !== value);

process.once('message', ({ folder, scratch, env }: BeginOrder) => {
  process.off('disconnect', end);
  const begun: StandbyBegun = { kind: 'standby-begun' };
  process.send?.(begun);
  const given = { ...env, ...Object.fromEntries(own) };
  for (const name of Object.keys(process.env)) if (!Object.hasOwn(given, name)) delete process.env[name];
  // Threads that were started ahead may be loading libraries, which read the environment: what is the same stays untouched.
  for (const [name, value] of Object.entries(given)) if (process.env[name] !== value) process.env[name] = value;
  process.chdir(scratch);
  process.argv = [process.execPath, main, folder];
  void bundle.start();
});
const ready: StandbyReady = { kind: 'standby-ready' };
process.send?.(ready);
