/** The main module of a starter process. It starts programs for a build, forwards their output, and kills them when the build is gone. */
import { type ChildProcess, spawn } from 'node:child_process';
import { writeSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { assertNever } from '../../../base/assert-never.js';
import { hasCode, systemCode } from '../../../base/system-error.js';
import { hasExited, killGroup, sweepGroup } from '../../../stage/process-group.js';
import type { OutputStream, Program } from '../../../stage/tool-runner.js';
import type { FromStarter, ToStarter } from './messages.js';
import { isSmallFolder, removeRunFolder } from './remove-run-folder.js';

/** Started programs by id, until their output has ended. */
const running = new Map<number, ChildProcess>();

/** The file descriptor of the reaper's input. The reaper kills the remaining groups when the build and this process are gone. */
const REAPER_INPUT = 4;

// Programs inherit the umask, and it may affect the files they write. The user's own umask is in no key, so a fixed one is set.
process.umask(0o022);
process.on('message', (message: ToStarter) => {
  switch (message.kind) {
    case 'start':
      start(message.id, message.program);
      return;
    case 'stop':
      stop(message.id);
      return;
    case 'remove':
      void removeAll(message.folders, message.small).then(() => say({ kind: 'removed', id: message.id }));
      return;
    default:
      assertNever(message);
  }
});
process.on('disconnect', () => {
  for (const child of running.values()) if (!hasExited(child)) sweepGroup(child);
  process.exit(0);
});
say({ kind: 'ready' });

function start(id: number, { command, cwd, env }: Program): void {
  const [program = '', ...args] = command;
  let child: ChildProcess;
  try {
    child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  } catch (error) {
    fail(id, error);
    return;
  }
  if (child.pid !== undefined) {
    running.set(id, child);
    tellReaper(`+ ${child.pid}\n`);
    say({ kind: 'started', id, pid: child.pid });
  }
  passOn(id, 'stdout', child.stdout);
  passOn(id, 'stderr', child.stderr);
  child.on('error', error => fail(id, error));
  child.on('exit', () => {
    // A background child of the program may keep its output open. It is ended together with the program.
    sweepGroup(child);
  });
  child.on('close', (code, signal) => {
    running.delete(id);
    if (child.pid !== undefined) tellReaper(`- ${child.pid}\n`);
    say({ kind: 'ended', id, exitCode: code ?? undefined, signal: signal ?? undefined });
  });
}

/** On some file systems, creating a file takes longer after many recent removals. Small folders are therefore removed together. */
const MOST_KEPT_FOLDERS = 1_000;
const kept: string[] = [];

async function removeAll(folders: readonly string[], small: 'later' | 'now'): Promise<void> {
  const isKept = folders.map(folder => small === 'later' && isSmallFolder(folder));
  kept.push(...folders.filter((_, index) => isKept[index]));
  const due = folders.filter((_, index) => !isKept[index]);
  if (small === 'now' || kept.length >= MOST_KEPT_FOLDERS) due.push(...kept.splice(0));
  for (const folder of due) await removeRunFolder(folder);
}

function stop(id: number): void {
  const child = running.get(id);
  if (child !== undefined) killGroup(child, 'group');
}

/**
 * Forwards output. The program is read no faster than the build takes its output.
 * `from` is null or undefined if the system had no file descriptor left; an 'error' event follows then.
 */
function passOn(id: number, stream: OutputStream, from: Readable | null | undefined): void {
  from?.setEncoding('utf8').on('data', (text: string) => {
    from.pause();
    say({ kind: 'output', id, stream, text }, () => from.resume());
  });
}

/** The write is synchronous, because the program is already running. */
function tellReaper(line: string): void {
  for (;;) {
    try {
      writeSync(REAPER_INPUT, line);
      return;
    } catch (error) {
      // EAGAIN means that the pipe is full for a moment. Any other error means that the reaper is gone, and with it the protection of killed builds.
      if (!hasCode(error, 'EAGAIN')) return;
    }
  }
}

function fail(id: number, error: unknown): void {
  say({ kind: 'failed', id, code: systemCode(error), message: error instanceof Error ? error.message : String(error) });
}

function say(message: FromStarter, onSent: () => void = () => undefined): void {
  // If the build is gone, 'disconnect' ends this process.
  if (process.connected) process.send?.(message, onSent);
}
