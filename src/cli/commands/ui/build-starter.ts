/** Starts the builds of the page as processes of their own. While a page is open, the next one is started ahead: a start takes a second. */
import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { after } from '../../../base/after.js';
import { stampInstallation } from '../../../engine/action/code/code-table.js';
import type { BuildProcess } from '../../../web/project/build-process.js';
import { type Ran, type RunOrder, type StartOrder, TAKE_ORDER } from '../../pipeline/build-orders.js';
import type { PipelineOptions } from '../../pipeline/open-plan.js';
import { findInstallRoot } from '../../process/install-root.js';

export interface BuildStarter {
  /** @param words of the command. @param onLine gets the last line of each piece of output. */
  start(words: readonly string[], onLine?: (line: string) => void): BuildProcess;
  /** After a build, 'next' keeps a process ready for the following one; 'none' ends it. */
  keepReady(what: 'next' | 'none'): void;
  /**
   * Starts that process now, where no build runs and none is ready.
   * @param bundles of the workers that it starts, and those after it, until a build used others.
   */
  prepare(bundles: readonly string[]): void;
}

interface Waiting {
  readonly child: ChildProcess;
  readonly installed: string;
}

/** A build's results are read first, by the page. */
const READY_AFTER_MS = 1_500;

/** Who tunes builds again sooner. It holds some hundred megabytes, with its workers. */
const KEEP_MS = 10 * 60_000;

/** A second Ctrl-C ends a build without a conclusion. A double click, or a second page, does not ask for that. */
const FORCE_AFTER_MS = 3_000;

/** Shells add the number of the signal that ended a process: 130 is SIGINT. */
const SIGNALED = 128;

/** The end of what a build writes about problems. */
const MOST_SAID = 8_000;

/** Before the first build, a process is started ahead only by `prepare`. */
export function openBuildStarter({ file, param, paramsFile, cache }: PipelineOptions): BuildStarter {
  const options = { file, param, paramsFile, ...(cache === undefined ? {} : { cache }) };
  let wanted: 'next' | 'none' = 'none';
  let running = 0;
  let waiting: Waiting | undefined;
  let stopTimer: (() => void) | undefined;
  /** Those of the last build, or of `prepare`. */
  let workers: readonly string[] = [];
  let prepared: readonly string[] = [];

  const release = (): void => {
    stopTimer?.();
    // It ends by itself when nobody can tell it anything any more.
    if (waiting?.child.connected === true) waiting.child.disconnect();
    waiting = undefined;
  };
  const begin = (): void => {
    const child = startProcess({ kind: 'wait', options, workers });
    const own: Waiting = { child, installed: installedNow() };
    waiting = own;
    const forget = (): void => {
      if (waiting === own) waiting = undefined;
    };
    child.once('error', forget);
    child.once('exit', forget);
    stopTimer = after(KEEP_MS, release);
  };
  const prepareNext = (): void => {
    release();
    if (wanted === 'next' && running === 0) stopTimer = after(READY_AFTER_MS, begin);
  };
  /** One that still starts reads its order as soon as it can, which is earlier than another one would. */
  const take = (): ChildProcess | undefined => {
    const own = waiting;
    if (own === undefined || own.installed !== installedNow() || !own.child.connected) return undefined;
    waiting = undefined;
    return own.child;
  };
  return {
    start(words, onLine) {
      const ready = take();
      release();
      ready?.send({ words } satisfies RunOrder, () => undefined);
      const child = ready ?? startProcess({ kind: 'run', words });
      child.on('message', (message: Ran) => {
        // A build that needed only some of the prepared ones, as for the figures of the present, says little of the one after an edit.
        workers = isAmong(message.workers, prepared) ? prepared : message.workers;
      });
      const build = follow(child, onLine);
      running++;
      void build.ended.then(() => {
        running--;
        prepareNext();
      });
      return build;
    },
    keepReady(what) {
      wanted = what;
      if (what === 'none') release();
    },
    prepare(bundles) {
      prepared = bundles;
      if (running > 0 || waiting !== undefined) return;
      if (workers.length === 0) workers = bundles;
      release();
      begin();
    },
  };
}

/** Whether `all` has each of `some`, as often. */
function isAmong(some: readonly string[], all: readonly string[]): boolean {
  const timesIn = (list: readonly string[], one: string): number => list.filter(other => other === one).length;
  return some.every(one => timesIn(some, one) <= timesIn(all, one));
}

/** What is installed now: a process that was started before has loaded other code. */
function installedNow(): string {
  return JSON.stringify(stampInstallation(findInstallRoot()).followed);
}

/** A process group of its own, so that Ctrl-C in the terminal of the page reaches the build only through `cancel`. */
function startProcess(order: StartOrder): ChildProcess {
  return spawn(process.execPath, [join(findInstallRoot(), 'bin/tanren.js'), TAKE_ORDER, JSON.stringify(order)], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    detached: true,
    env: { ...process.env, NO_COLOR: '1' },
  });
}

function follow(child: ChildProcess, onLine: ((line: string) => void) | undefined): BuildProcess {
  if (child.stdout !== null) readLines(child.stdout, onLine ?? (() => undefined));
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-MOST_SAID);
  });
  const ended = new Promise<Awaited<BuildProcess['ended']>>(end => {
    child.on('error', error => end({ exitCode: undefined, said: error.message }));
    child.on('close', (code, signal) =>
      end({ exitCode: code ?? (signal === null ? undefined : SIGNALED + constants.signals[signal]), said }),
    );
  });
  let cancelledMs: number | undefined;
  const cancel = (): void => {
    if (cancelledMs !== undefined && performance.now() - cancelledMs < FORCE_AFTER_MS) return;
    cancelledMs ??= performance.now();
    child.kill('SIGINT');
  };
  return { pid: child.pid ?? 0, cancel, ended };
}

function readLines(stream: Readable, onLine: (line: string) => void): void {
  let rest = '';
  stream.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = (lines.pop() ?? '').slice(-MOST_SAID);
    const last = lines.findLast(line => line.trim() !== '');
    if (last !== undefined) onLine(last.slice(0, 400));
  });
}
