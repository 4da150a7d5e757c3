/** A worker's side of a part process. */
import { fork } from 'node:child_process';
import { type FromPartProcess, PART_PROCESS, type PartOrder } from './part-messages.js';

export type PartEnd =
  | { readonly kind: 'computed'; readonly names: readonly string[] }
  /** The part threw an error. */
  | { readonly kind: 'failed' }
  /** The process has ended. */
  | { readonly kind: 'lost'; readonly why: string };

export interface PartProcess {
  /** One part at a time. */
  compute(order: PartOrder): Promise<PartEnd>;
  /** Its peak memory so far. */
  readonly peakBytes: () => number;
  kill(): void;
}

/** Starts this worker's program as a part process. @param folder the run folder. */
export function openPartProcess(folder: string, log: (level: 'info' | 'warning', message: string) => void): PartProcess {
  const [, main = ''] = process.argv;
  const child = fork(main, [folder, PART_PROCESS], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  let peakBytes = 0;
  let lost: PartEnd | undefined;
  let settle: (end: PartEnd) => void = () => undefined;
  const lose = (why: string): void => {
    lost ??= { kind: 'lost', why };
    settle(lost);
  };
  child.on('message', (message: FromPartProcess) => {
    if (message.kind === 'log') return log(message.level, message.message);
    if (message.kind === 'computed') peakBytes = message.peakBytes;
    settle(message.kind === 'computed' ? { kind: 'computed', names: message.names } : { kind: 'failed' });
  });
  child.on('error', error => lose(error.message));
  child.on('exit', (code, signal) => lose(signal ?? `exit code ${code}`));
  return {
    peakBytes: () => peakBytes,
    compute: order =>
      new Promise(resolve => {
        settle = resolve;
        if (lost !== undefined) return resolve(lost);
        child.send(order, error => {
          if (error !== null) lose(error.message);
        });
      }),
    kill: () => void child.kill('SIGKILL'),
  };
}
