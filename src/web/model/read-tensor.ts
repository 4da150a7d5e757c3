/** Values of models on captured samples, computed in a process that ends after each answer. */
import { fork } from 'node:child_process';
import { join } from 'node:path';
import { RequestError } from '../http/read-body.js';
import type { TensorAnswer, TensorOrder, TensorView } from './tensor-view.js';

export interface TensorReader {
  /** @throws RequestError with the code of the process. */
  read(order: TensorOrder): Promise<TensorView>;
}

/** A value that takes longer is too large for the page. */
const LONGEST_MS = 60_000;

/** One process at a time: a model may need gigabytes. */
export function openTensorReader(installRoot: string): TensorReader {
  let last: Promise<unknown> = Promise.resolve();
  return {
    read(order) {
      const work = last.then(() => runProcess(join(installRoot, 'src/web/model/tensor-process.js'), order));
      last = work.catch(() => undefined);
      return work;
    },
  };
}

function runProcess(module: string, order: TensorOrder): Promise<TensorView> {
  return new Promise((resolve, reject) => {
    const child = fork(module, [], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new RequestError(413, 'ui-too-large', 'the value takes too long to compute'));
    }, LONGEST_MS);
    child.on('message', (answer: TensorAnswer) => {
      if (answer.kind === 'read') resolve(answer.view);
      else reject(new RequestError(422, answer.code, answer.message, answer.help));
    });
    child.on('error', reject);
    child.on('exit', () => {
      clearTimeout(timer);
      reject(new RequestError(500, 'internal', 'the process that computes the value ended'));
    });
    child.send(order);
  });
}
