/**
 * Ends a process between two of its writes. Loaded by `node --import` before the program, it counts every call that changes the file system, and at
 * the call DIE_AT_WRITE, or the first whose line matches DIE_AT_CALL, ends the process by SIGKILL: before the call, or with DIE_HOW=torn in the middle of it, where it can be left half done.
 * With WRITES_TO, the calls are listed in that file when the process ends.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { relative } from 'node:path';

const dieAt = Number(process.env.DIE_AT_WRITE ?? Number.POSITIVE_INFINITY);
const dieAtCall = process.env.DIE_AT_CALL === undefined ? undefined : new RegExp(process.env.DIE_AT_CALL);
const torn = process.env.DIE_HOW === 'torn';
const listTo = process.env.WRITES_TO;
const calls: string[] = [];
const real = { ...fs };

type Call = (...args: unknown[]) => unknown;
type Callable = Record<string, Call>;

const MUTATING = ['mkdir', 'rmdir', 'rm', 'unlink', 'rename', 'link', 'symlink', 'chmod', 'utimes', 'truncate'];
const WITH_CONTENT = ['writeFile', 'appendFile', 'copyFile'];

const sync = fs as unknown as Callable;
const promises = fs.promises as unknown as Callable;
for (const name of [...MUTATING, ...WITH_CONTENT]) {
  wrap(sync, `${name}Sync`);
  wrap(promises, name);
}
wrap(sync, 'writeSync');
wrapOpen(sync, 'openSync');
wrapOpen(promises, 'open');
syncBuiltinESMExports();
process.on('exit', () => {
  if (listTo !== undefined) real.writeFileSync(listTo, calls.map(line => `${line}\n`).join(''));
});

function wrap(owner: Callable, name: string): void {
  const original = owner[name];
  if (original === undefined) throw new Error(`fs has no ${name}`);
  owner[name] = function (this: unknown, ...args: unknown[]) {
    count(name, args);
    return original.apply(this, args);
  };
}

/** Opening for writing makes or empties a file; what is written through a handle counts too. */
function wrapOpen(owner: Callable, name: string): void {
  const original = owner[name];
  if (original === undefined) throw new Error(`fs has no ${name}`);
  owner[name] = (...args: unknown[]) => {
    if (typeof args[1] === 'string' && args[1] !== 'r') count(name, args);
    const opened = original(...args);
    return opened instanceof Promise ? opened.then(wrapHandle) : opened;
  };
}

function wrapHandle(handle: unknown): unknown {
  const methods = handle as Callable;
  for (const name of ['writeFile', 'write', 'truncate', 'chmod']) {
    const original = methods[name];
    if (original === undefined) continue;
    methods[name] = (...args: unknown[]) => {
      count(`handle.${name}`, [methods.fd, ...args]);
      return original.apply(handle, args);
    };
  }
  return handle;
}

function count(name: string, args: readonly unknown[]): void {
  // What is said is no state.
  if (args[0] === 1 || args[0] === 2) return;
  const line = `${name} ${args.slice(0, 2).map(describe).join(' ')}`;
  calls.push(line);
  if (calls.length < dieAt && dieAtCall?.test(line) !== true) return;
  if (torn) leaveHalf(name, args);
  real.writeSync(2, `died ${torn ? 'in' : 'before'} ${line}\n`);
  process.kill(process.pid, 'SIGKILL');
  // Nothing more happens, even where the signal takes a moment.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

function leaveHalf(name: string, [to, content, ...rest]: readonly unknown[]): void {
  if (name.startsWith('copyFile')) {
    real.copyFileSync(String(to), String(content));
    real.chmodSync(String(content), 0o600);
    real.truncateSync(String(content), Math.floor(real.statSync(String(content)).size / 2));
    return;
  }
  if (typeof content !== 'string' && !(content instanceof Uint8Array)) return;
  const half = typeof content === 'string' ? content.slice(0, content.length / 2) : content.subarray(0, content.length / 2);
  if (name.startsWith('appendFile')) real.appendFileSync(String(to), half);
  else if (name === 'writeSync' || name.startsWith('handle.write')) real.writeSync(Number(to), half as Uint8Array);
  else if (name.startsWith('writeFile')) real.writeFileSync(String(to), half, rest[0] as { mode?: number });
}

function describe(value: unknown): string {
  if (typeof value === 'string') return value.startsWith('/') ? relative(process.cwd(), value) : JSON.stringify(value.slice(0, 40));
  return typeof value === 'number' ? String(value) : '';
}
