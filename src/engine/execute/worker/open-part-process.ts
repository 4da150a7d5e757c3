/** A worker's side of a part process. */
import { type ChildProcess, fork } from 'node:child_process';
import { messageOf } from '../../model/engine-error.js';
import { isFromPartProcess, PART_PROCESS, type PartOrder } from './part-messages.js';

export type PartEnd =
  | { readonly kind: 'computed'; readonly names: readonly string[] }
  /** The part threw an error. */
  | { readonly kind: 'failed' }
  /** The process has ended. */
  | { readonly kind: 'lost'; readonly why: string };

export interface PartProcess {
  /** One part at a time. */
  compute(order: Omit<PartOrder, 'number'>): Promise<PartEnd>;
  /** Its peak memory so far. */
  readonly peakBytes: () => number;
  kill(): void;
}

/** Starts this worker's program as a part process. @param folder the run folder. */
export function openPartProcess(folder: string, log: (level: 'info' | 'warning', message: string) => void): PartProcess {
  let peakBytes = 0;
  let lost: PartEnd | undefined;
  let settle: (end: PartEnd) => void = () => undefined;
  let number = 0;
  const lose = (why: string): void => {
    lost ??= { kind: 'lost', why };
    settle(lost);
  };
  const child = start(folder, lose);
  child?.on('message', (message: unknown) => {
    if (!isFromPartProcess(message) || ('number' in message && message.number !== number)) {
      lose('the plugin sent a message over its channel');
      child.kill('SIGKILL');
    } else if (message.kind === 'log') log(message.level, message.message);
    else {
      if (message.kind === 'computed') peakBytes = message.peakBytes;
      settle(message.kind === 'computed' ? { kind: 'computed', names: message.names } : { kind: 'failed' });
    }
  });
  child?.on('error', error => lose(error.message));
  child?.on('exit', (code, signal) => lose(signal ?? `exit code ${code}`));
  return {
    peakBytes: () => peakBytes,
    compute: order =>
      new Promise(resolve => {
        settle = resolve;
        if (lost !== undefined) return resolve(lost);
        child?.send({ ...order, number: ++number }, error => {
          if (error !== null) lose(error.message);
        });
      }),
    kill: () => void child?.kill('SIGKILL'),
  };
}

/** A system without free processes or files may refuse it. */
function start(folder: string, lose: (why: string) => void): ChildProcess | undefined {
  const [, main = ''] = process.argv;
  try {
    const child = fork(main, [folder, PART_PROCESS], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    if (child.pid === undefined) lose('it could not be started');
    return child;
  } catch (error) {
    lose(messageOf(error));
    return undefined;
  }
}
