/** The worker runner: it runs an action in a separate process and has a failure for each way in which that process can end abnormally. */
import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { assertNever } from '../../../base/assert-never.js';
import { readMasked } from '../../../stage/mask.js';
import { killGroup, sweepGroup } from '../../../stage/process-group.js';
import { baseEnvironment } from '../../../stage/tool-runner.js';
import { EngineError } from '../../model/engine-error.js';
import type { Failure } from '../../model/failure.js';
import { toFailure } from '../../model/failure.js';
import type { StandbyOrder } from '../../model/ports.js';
import { isStandbyBegun } from '../standby/messages.js';
import { RUN_LAYOUT } from '../worker/action-document.js';
import { isFromWorker, type ToWorker } from '../worker/messages.js';
import { linkInputs, writeDocuments } from './run-folder.js';
import type { Runner, RunOrder } from './runner.js';
import { describeDeath } from './worker-death.js';

/**
 * V8 compiles and collects garbage in the worker's main thread. Stages already run in parallel, and helper threads cost more processor time than they save.
 * Tensors outside a small heap make V8 collect often: marking it at once takes less time than in steps.
 */
export const WORKER_FLAGS = ['--single-threaded', '--no-incremental-marking'];

const WORKER_GRACE_MS = 100;
const TAIL_CHARACTERS = 4_000;

/** Runs an action in a separate process, which receives the action's document and folder. */
export const workerRunner: Runner = {
  async run(order) {
    linkInputs(order.folder, order.links);
    writeDocuments(order.folder, order.action, order.guard === undefined ? order.local : { ...order.local, guarded: true });
    const failure = await runWorker(order);
    return failure === undefined || existsSync(join(order.folder, RUN_LAYOUT.action)) ? failure : folderRemoved(failure);
  },
};

function folderRemoved({ message }: Failure): Failure {
  return toFailure(
    new EngineError('run-folder-removed', 'the folder in which the stage ran, under cache/tmp, was removed during the run', {
      help: 'build again, and do not change cache/ during a build',
      cause: new Error(message),
    }),
  );
}

async function runWorker(order: RunOrder): Promise<Failure | undefined> {
  // A worker that is told to end right after its start may still start a program.
  if (order.signal.aborted) return toFailure(order.signal.reason);
  const scratch = join(order.folder, RUN_LAYOUT.scratch);
  const main = order.bundle ?? workerMain(order.installRoot);
  const env = { ...baseEnvironment(order.environment, scratch), ...order.declaredEnv };
  try {
    const standby = beginStandby(order, { main, folder: order.folder, scratch, env });
    const end = standby === undefined ? 'not begun' : await followStandby(standby, order);
    return end === 'not begun' ? await guardWorker(forkWorker(order, main, scratch, env), order) : end;
  } finally {
    order.partStore.release();
  }
}

/** A process that waited for a save may have died meanwhile, and nothing has run then: @returns 'not begun'. */
async function followStandby(child: ChildProcess, order: RunOrder): Promise<Failure | undefined | 'not begun'> {
  let begun = false;
  child.on('message', message => {
    if (isStandbyBegun(message)) begun = true;
  });
  const failure = await guardWorker(child, order);
  return begun || order.signal.aborted ? failure : 'not begun';
}

/** Follows the worker. Its process group ends with the order's signal, and with this process. */
async function guardWorker(child: ChildProcess, order: RunOrder): Promise<Failure | undefined> {
  const stop = (): void => killGroup(child, 'group', WORKER_GRACE_MS);
  order.signal.addEventListener('abort', stop, { once: true });
  const unwatch = child.pid === undefined ? undefined : order.reaper.watch(child.pid);
  try {
    return await followWorker(child, order);
  } finally {
    unwatch?.();
    order.signal.removeEventListener('abort', stop);
  }
}

function forkWorker(order: RunOrder, main: string, scratch: string, env: Readonly<Record<string, string>>): ChildProcess {
  const command = [process.execPath, ...WORKER_FLAGS, main, order.folder];
  const [execPath = '', ...execArgv] = order.guard?.wrap(command, scratch) ?? command;
  return fork(main, [order.folder], {
    cwd: scratch,
    env: { ...env },
    execPath,
    execArgv: execArgv.slice(0, -2),
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    detached: true,
  });
}

/** A guard, and variables that a stage declares, may have effects where a process starts; other modules than a bundle have a guard of loads. */
function beginStandby({ guard, bundle, declaredEnv, standby }: RunOrder, order: StandbyOrder): ChildProcess | undefined {
  if (guard !== undefined || bundle === undefined || Object.keys(declaredEnv).length > 0) return undefined;
  return standby?.begin(order);
}

/** Returns the main module of a worker that loads its plugin from a module. */
export function workerMain(installRoot: string): string {
  return join(installRoot, 'src/engine/execute/worker/main.js');
}

function followWorker(child: ChildProcess, { partStore, listener, mask, lentSlots }: RunOrder): Promise<Failure | undefined> {
  let end: { readonly failure: Failure | undefined } | undefined;
  let tail = '';
  const onOutput = (text: string): void => {
    tail = (tail + text).slice(-TAIL_CHARACTERS);
    listener.log('output', text);
  };
  const reply = (message: ToWorker): void => {
    if (child.connected) child.send(message, () => undefined);
  };
  const answer = (call: number, work: () => Promise<ToWorker>): void => {
    work().then(reply, error => reply({ kind: 'part-failed', call, failure: toFailure(error) }));
  };

  lentSlots?.attach(reply);
  for (const stream of [child.stdout, child.stderr]) if (stream !== null) readMasked(stream, mask, onOutput);
  child.on('message', (message: unknown) => {
    if (end?.failure !== undefined || isStandbyBegun(message)) return;
    if (!isFromWorker(message)) {
      end = {
        failure: toFailure(
          new EngineError('worker-message', 'the plugin sent a message over the channel of its worker', {
            help: 'use the context of the run instead of process.send',
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
      case 'slots-wanted':
        return lentSlots?.want(message.count);
      case 'slot-returned':
        return lentSlots?.giveBack(message.slot);
      case 'usage':
        return listener.usage(message.peakBytes);
      case 'find-part':
        return answer(message.call, async () => ({
          kind: 'part-answer',
          call: message.call,
          answer: await partStore.find(message.question),
        }));
      case 'keep-part': {
        const { call, ticket, folder, names } = message;
        return answer(call, async () => ({ kind: 'part-kept', call, files: await partStore.keep(ticket, folder, names) }));
      }
      case 'drop-part':
        return partStore.drop(message.ticket, message.why);
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
