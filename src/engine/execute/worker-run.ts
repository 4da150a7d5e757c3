/** How is an action run in a process of its own, and what if that process does not end well? */
import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import { assertNever } from '../../base/assert-never.js';
import type { JsonObject } from '../../base/json.js';
import { hearMasked, type Mask } from '../../stage/mask.js';
import { killGroup, sweepGroup } from '../../stage/process-group.js';
import { baseEnvironment } from '../../stage/tool-runner.js';
import { EngineError } from '../model/engine-error.js';
import type { Failure } from '../model/failure.js';
import { toFailure } from '../model/failure.js';
import type { RunGuard } from './guard/guard.js';
import type { RunKeeper } from './part-service.js';
import type { Reaper } from './reaper.js';
import type { Starters } from './starter/starters.js';
import { RUN_LAYOUT } from './worker/action-document.js';
import { isFromWorker, type ToWorker } from './worker/messages.js';

/** What a running stage says, whoever runs it. */
export interface RunListener {
  log(level: 'info' | 'warning' | 'output', text: string): void;
  progress(done: number, total: number, what: string): void;
  /** Of the device that the stage measures on. */
  identify(identity: JsonObject): void;
  /** The most memory that the worker had at a time; nothing where there is no worker. */
  usage(peakBytes: number): void;
}

export interface RunOrder {
  readonly folder: string;
  readonly installRoot: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly declaredEnv: Readonly<Record<string, string>>;
  readonly keeper: RunKeeper;
  readonly listener: RunListener;
  readonly signal: AbortSignal;
  readonly reaper: Reaper;
  readonly starters: Starters;
  /** Where what the run starts is to be watched. */
  readonly guard: RunGuard | undefined;
  /** Takes the stage's secrets out of a text. */
  readonly mask: Mask;
}

const WORKER_GRACE_MS = 100;
const TAIL_CHARACTERS = 4_000;

/** Runs the action whose document stands in `folder`. @returns undefined where it succeeded. */
export async function runInWorker(order: RunOrder): Promise<Failure | undefined> {
  const scratch = join(order.folder, RUN_LAYOUT.scratch);
  const main = workerMain(order.installRoot);
  const command = [process.execPath, main, order.folder];
  const [execPath = '', ...execArgv] = order.guard?.wrap(command, scratch) ?? command;
  const child = fork(main, [order.folder], {
    cwd: scratch,
    env: { ...baseEnvironment(order.environment, scratch), ...order.declaredEnv },
    execPath,
    execArgv: execArgv.slice(0, -2),
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    detached: true,
  });
  const stop = (): void => killGroup(child, 'group', WORKER_GRACE_MS);
  order.signal.addEventListener('abort', stop, { once: true });
  if (order.signal.aborted) stop();
  const unwatch = child.pid === undefined ? undefined : order.reaper.watch(child.pid);
  try {
    return await followWorker(child, order);
  } finally {
    unwatch?.();
    order.signal.removeEventListener('abort', stop);
    order.keeper.release();
  }
}

/** The module that a worker starts with. */
export function workerMain(installRoot: string): string {
  return join(installRoot, 'src/engine/execute/worker/main.js');
}

function followWorker(child: ChildProcess, { keeper, listener, mask }: RunOrder): Promise<Failure | undefined> {
  let end: { readonly failure: Failure | undefined } | undefined;
  let tail = '';
  const hear = (text: string): void => {
    tail = (tail + text).slice(-TAIL_CHARACTERS);
    listener.log('output', text);
  };
  const reply = (message: ToWorker): void => {
    if (child.connected) child.send(message, () => undefined);
  };
  const answer = (call: number, work: () => Promise<ToWorker>): void => {
    work().then(reply, error => reply({ kind: 'part-failed', call, failure: toFailure(error) }));
  };

  for (const stream of [child.stdout, child.stderr]) if (stream !== null) hearMasked(stream, mask, hear);
  child.on('message', (message: unknown) => {
    if (end?.failure !== undefined) return;
    if (!isFromWorker(message)) {
      end = {
        failure: toFailure(
          new EngineError('worker-message', 'the plugin sent a message of its own over the channel of its worker', {
            help: 'a plugin speaks through its context, never by process.send',
          }),
        ),
      };
      killGroup(child, 'group', WORKER_GRACE_MS);
      return;
    }
    switch (message.kind) {
      case 'log':
        return listener.log(message.level, message.message);
      case 'output':
        return listener.log('output', message.text);
      case 'progress':
        return listener.progress(message.done, message.total, message.what);
      case 'identity':
        return listener.identify(message.identity);
      case 'usage':
        return listener.usage(message.peakBytes);
      case 'find-part':
        return answer(message.call, async () => ({ kind: 'part-answer', call: message.call, answer: await keeper.find(message.question) }));
      case 'keep-part': {
        const { call, ticket, folder, names } = message;
        return answer(call, async () => ({ kind: 'part-kept', call, files: await keeper.keep(ticket, folder, names) }));
      }
      case 'drop-part':
        return keeper.drop(message.ticket, message.why);
      case 'done':
        end = { failure: undefined };
        return;
      case 'failed':
        end = { failure: message.failure };
        return;
      default:
        return assertNever(message);
    }
  });
  return new Promise(resolve => {
    child.on('error', error =>
      resolve(
        toFailure(
          new EngineError('worker-died', `the worker cannot be started: ${error.message}`, {
            cause: error,
            help: 'lower --jobs, free memory, or raise the limits of this shell (ulimit -n, ulimit -u)',
          }),
        ),
      ),
    );
    child.on('exit', () => sweepGroup(child));
    child.on('close', (code, signal) => resolve(end === undefined ? describeDeath(code, signal, tail) : end.failure));
  });
}

function describeDeath(code: number | null, signal: NodeJS.Signals | null, tail: string): Failure {
  if (/heap out of memory|bad_alloc|out of memory/i.test(tail)) {
    return toFailure(
      new EngineError('worker-memory', 'the worker ran out of memory', {
        help: 'free memory, lower --jobs, or give the stage smaller inputs',
      }),
    );
  }
  // A shell between, as in the sandbox, says signals as exit codes.
  if (signal === 'SIGKILL' || code === 128 + constants.signals.SIGKILL) {
    return toFailure(
      new EngineError('worker-died', 'the worker was killed (SIGKILL): most likely the system ran out of memory', {
        details: { signal: 'SIGKILL' },
        help: 'free memory or lower --jobs, and build again',
      }),
    );
  }
  const how = signal === null ? `ended with exit code ${code} and no result` : `crashed (${signal})`;
  return toFailure(
    new EngineError('worker-died', `the worker ${how}`, { details: { code, signal }, help: 'the log has what it wrote last' }),
  );
}
