/** Worker processes that are started before a stage needs them, for commands that build again and again. Each is used once. */
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { after } from '../../../base/after.js';
import { hasExited, sweepGroup } from '../../../stage/process-group.js';
import { baseEnvironment } from '../../../stage/tool-runner.js';
import type { StandbyPort } from '../../model/ports.js';
import { type BeginOrder, isStandbyReady } from './messages.js';

export interface StandbyWorkers extends StandbyPort {
  /** Starts the missing ones, a moment later: what a build leaves to do comes first. As many as the builds so far asked for at most. */
  refillLater(): void;
  /** Ends those that wait. */
  close(): void;
}

export interface StandbyOptions {
  readonly installRoot: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Flags of Node, those of every worker. */
  readonly flags: readonly string[];
  /** Packages that they load when they start. */
  readonly libraries: readonly string[];
  /** Versions of the libraries that are installed now: a process that was started with others is ended, not used. */
  readonly versions: () => string;
  /** At most. */
  readonly count: number;
  readonly refillAfterMs: number;
}

/** None is started before a build has asked for one. */
export function openStandbyWorkers(options: StandbyOptions): StandbyWorkers {
  const { installRoot, environment, flags, libraries, versions, count, refillAfterMs } = options;
  const waiting = new Map<ChildProcess, { state: 'starting' | 'ready'; readonly versions: string }>();
  let stopTimer: (() => void) | undefined;
  let [asked, wanted] = [0, 0];
  let state: 'open' | 'closed' = 'open';

  const start = (): void => {
    const started = { state: 'starting' as 'starting' | 'ready', versions: versions() };
    const child = fork(join(installRoot, 'src/engine/execute/standby/main.js'), [...libraries], {
      cwd: installRoot,
      // The loader of the system reads some variables when a process starts; `begin` sets all of them.
      env: baseEnvironment(environment, installRoot),
      execArgv: [...flags],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      detached: true,
    });
    waiting.set(child, started);
    const forget = (): void => void waiting.delete(child);
    child.once('error', forget);
    child.once('exit', forget);
    child.once('message', message => {
      if (isStandbyReady(message)) started.state = 'ready';
    });
  };
  const refill = (): void => {
    stopTimer = undefined;
    if (state === 'open') while (waiting.size < wanted) start();
  };

  return {
    begin(order) {
      asked++;
      const installed = versions();
      for (const [child, started] of waiting) {
        if (started.versions !== installed) {
          waiting.delete(child);
          sweepGroup(child);
          continue;
        }
        if (started.state !== 'ready' || !child.connected || hasExited(child)) continue;
        waiting.delete(child);
        child.removeAllListeners('error').removeAllListeners('exit');
        child.send({ kind: 'begin', ...order } satisfies BeginOrder, () => undefined);
        return child;
      }
      return undefined;
    },
    refillLater() {
      wanted = Math.max(wanted, Math.min(count, asked));
      asked = 0;
      stopTimer?.();
      stopTimer = after(refillAfterMs, refill);
    },
    close() {
      state = 'closed';
      stopTimer?.();
      for (const child of waiting.keys()) sweepGroup(child);
    },
  };
}
