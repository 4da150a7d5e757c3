/** The strict guard: strace records the file accesses of a stage's programs, and the record is compared with the stage's declaration afterwards. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, delimiter, dirname, join, relative } from 'node:path';
import { EngineError } from '../../model/engine-error.js';
import type { Failure } from '../../model/failure.js';
import { toFailure } from '../../model/failure.js';
import type { Guard, GuardedRun, RunGuard } from './guard.js';
import { isAmong, READABLE, TEMPORARY, WRITABLE } from './system-places.js';
import { type Access, readTrace, straceArguments } from './trace.js';

/** Returns the strace guard; undefined if strace is missing or may not trace. */
export function findStrict(environment: Readonly<Record<string, string | undefined>>): Guard | undefined {
  const strace = (environment.PATH ?? '')
    .split(delimiter)
    .map(folder => join(folder, 'strace'))
    .find(path => path.startsWith('/') && existsSync(path));
  if (strace === undefined || process.platform !== 'linux') return undefined;
  const trial = spawnSync(strace, [...straceArguments('/dev/null'), 'true'], { stdio: 'ignore', timeout: 10_000 });
  return trial.status === 0 ? makeStrict(strace) : undefined;
}

function makeStrict(strace: string): Guard {
  return {
    open(run): RunGuard {
      const folder = tracesOf(run);
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const folders: string[] = [];
      return {
        wrap(command, cwd) {
          const output = join(folder, String(folders.length));
          folders.push(cwd);
          return [strace, ...straceArguments(output), '--', ...command];
        },
        findViolation() {
          const tooLarge = readdirSync(folder).find(name => statSync(join(folder, name)).size > LARGEST_TRACE_BYTES);
          if (tooLarge !== undefined) return toFailure(traceTooLarge());
          const traces = readdirSync(folder).filter(name => /^\d+$/.test(name));
          const accesses = traces.flatMap(name => readTrace(readFileSync(join(folder, name), 'utf8'), folders[Number(name)] ?? '/'));
          return findViolation(run, accesses);
        },
        close: () => rm(folder, { recursive: true, force: true }),
      };
    },
  };
}

/** Returns the folder that strace writes to. A surrounding sandbox must allow it. */
export function tracesOf({ pathPrefix }: GuardedRun): string {
  return `${pathPrefix}-traces`;
}

/** Combines both guards: strace runs inside the sandbox. A failed access to a path that exists outside the sandbox also counts as undeclared. */
export function combine(sandbox: Guard, strict: Guard): Guard {
  return {
    open(run): RunGuard {
      const inner = strict.open({ ...run, ownCopies: TEMPORARY });
      const outer = sandbox.open({ ...run, writable: [...run.writable, tracesOf(run)] });
      return {
        wrap: (command, cwd) => outer.wrap(inner.wrap(command, cwd), cwd),
        findViolation: inner.findViolation,
        async close() {
          await outer.close();
          await inner.close();
        },
      };
    },
  };
}

/** About two million system calls. */
const LARGEST_TRACE_BYTES = 400 << 20;

function traceTooLarge(): EngineError {
  return new EngineError('trace-too-large', 'the programs of the stage opened and changed more files than can be recorded', {
    help: 'use --sandbox instead of --strict for this stage',
  });
}

/** Maximum number of paths in a message. */
const NAMED = 10;

export function findViolation(run: GuardedRun, accesses: readonly Access[]): Failure | undefined {
  const undeclared = { read: new Set<string>(), write: new Set<string>() };
  const own = [...run.writable, tracesOf(run)].flatMap(withReal);
  const declared = { read: [...run.readable.flatMap(withReal), ...own], write: own };
  const projects = withReal(run.projectFolder);
  for (const { kind, path, end } of accesses) {
    // A read follows the link to its target. A write creates or removes the link itself.
    const place = kind === 'read' ? realPlace(path) : join(realPlace(dirname(path)), basename(path));
    if (end === 'done' && isAmong(run.ownCopies, place)) continue;
    if (isAmong(declared[kind], place) || isOfSystem(kind === 'read' ? READABLE : WRITABLE, place, projects)) continue;
    if (end === 'refused' && !isThere(kind, path)) continue;
    undeclared[kind].add(place);
  }
  for (const path of undeclared.write) undeclared.read.delete(path);
  if (undeclared.read.size === 0 && undeclared.write.size === 0) return undefined;
  return toFailure(describe(run, [...undeclared.read].sort(), [...undeclared.write].sort()));
}

/** Whether a path is in a folder of the system. A project there, such as in /opt or /dev/shm, is not of the system. */
function isOfSystem(folders: readonly string[], path: string, projects: readonly string[]): boolean {
  const holdsIt = (folder: string): boolean => projects.some(project => isAmong([folder], project) && isAmong([project], path));
  return folders.some(folder => isAmong([folder], path) && !holdsIt(folder));
}

function describe(run: GuardedRun, reads: readonly string[], writes: readonly string[]): EngineError {
  const details = { reads, writes };
  const list = (paths: readonly string[]): string => {
    const names = paths.slice(0, NAMED).map(path => (isAmong([run.projectFolder], path) ? relative(run.projectFolder, path) || '.' : path));
    return [...names, ...(paths.length > NAMED ? [`and ${paths.length - NAMED} more`] : [])].map(name => `\n${name}`).join('');
  };
  const readText = `the stage read files that it does not declare:${list(reads)}`;
  if (writes.length === 0) {
    return new EngineError('undeclared-read', readText, {
      details,
      help: 'declare each of them as an input or a tool: a change of an undeclared file does not make the stage run again',
    });
  }
  return new EngineError(
    'undeclared-write',
    `the stage wrote outside its outputs:${list(writes)}${reads.length === 0 ? '' : `\n${readText}`}`,
    {
      details,
      help: 'write into the folder that the stage starts in, or into TMPDIR, and declare files to keep as outputs',
    },
  );
}

/** Whether the sandbox hid something from a failed access: the file itself, or for a write its parent folder. The access is then a dependency. */
function isThere(kind: Access['kind'], path: string): boolean {
  return existsSync(kind === 'read' ? path : dirname(path));
}

function withReal(path: string): readonly string[] {
  return [path, realPlace(path)];
}

/** Returns the path with links in its folders resolved. For a path that does not exist, it resolves the part that exists. */
function realPlace(path: string): string {
  if (path === '/') return path;
  try {
    return realpathSync(path);
  } catch {
    return join(realPlace(dirname(path)), basename(path));
  }
}
