/** Worker processes that are started before a stage needs them, for commands that build again and again. Each is used once. */
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { after } from '../../../base/after.js';
import { hasExited, sweepGroup } from '../../../stage/process-group.js';
import { baseEnvironment } from '../../../stage/tool-runner.js';
import type { StandbyPort } from '../../model/ports.js';
import { type BeginOrder, isStandbyReady } from './messages.js';

export interface StandbyWorkers extends StandbyPort {
  /** Starts the missing ones, a moment later: what a build leaves to do comes first. They are those that the last build asked for, up to `count`. */
  refillLater(): void;
  /** The bundles that were asked for since the last refill, in this order. */
  asked(): readonly string[];
  /** Ends those that wait. */
  close(): void;
}

export interface StandbyOptions {
  readonly installRoot: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Flags of Node, those of every worker. */
  readonly flags: readonly string[];
  /** What is installed now of all that a process loads ahead for this bundle: one that was started with something else is ended, not used. */
  readonly installed: (main: string) => string;
  /** At most. */
  readonly count: number;
  readonly refillAfterMs: number;
  /** Bundles whose workers are started at once, up to `count`. */
  readonly first?: readonly string[];
}

interface Waiting {
  readonly main: string;
  readonly installed: string;
  state: 'starting' | 'ready';
}

/** Without `first`, none is started before a build has asked for one. */
export function openStandbyWorkers(options: StandbyOptions): StandbyWorkers {
  const { installRoot, environment, flags, installed, count, refillAfterMs, first = [] } = options;
  const waiting = new Map<ChildProcess, Waiting>();
  let stopTimer: (() => void) | undefined;
  /** Bundles, each as often as it was asked for, in that order. */
  let asked: string[] = [];
  let wanted: readonly string[] = [];
  let state: 'open' | 'closed' = 'open';

  const start = (main: string): void => {
    const started: Waiting = { main, state: 'starting', installed: installed(main) };
    const child = fork(join(installRoot, 'src/engine/execute/standby/main.js'), [main], {
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
  const end = (child: ChildProcess): void => {
    waiting.delete(child);
    sweepGroup(child);
  };
  const refill = (): void => {
    stopTimer = undefined;
    if (state === 'closed') return;
    const missing = [...wanted];
    for (const [child, { main }] of waiting) {
      const at = missing.indexOf(main);
      if (at === -1) end(child);
      else missing.splice(at, 1);
    }
    for (const main of missing) start(main);
  };

  for (const main of first.slice(0, count)) start(main);
  return {
    begin(order) {
      asked.push(order.main);
      const now = installed(order.main);
      for (const [child, started] of waiting) {
        if (started.main !== order.main) continue;
        if (started.installed !== now) {
          end(child);
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
      if (asked.length > 0) wanted = asked.slice(0, count);
      asked = [];
      stopTimer?.();
      stopTimer = after(refillAfterMs, refill);
    },
    asked: () => asked,
    close() {
      state = 'closed';
      stopTimer?.();
      for (const child of waiting.keys()) sweepGroup(child);
    },
  };
}
