/** The worker's requests to the engine about parts: each question is sent over IPC and matched to its answer by number. */
import { assertNever } from '../../../base/assert-never.js';
import { CodedError } from '../../../base/coded-error.js';
import { InternalError } from '../../../base/invariant.js';
import type { Failure } from '../../model/failure.js';
import type { Answer, FromWorker, PartAnswer } from './messages.js';
import type { PartStore } from './run-parts.js';

export interface IpcPartStore extends PartStore {
  receive(message: Answer): void;
}

interface Waiting {
  readonly answer: (answer: PartAnswer) => void;
  readonly kept: (files: Readonly<Record<string, string>>) => void;
  readonly fail: (failure: Failure) => void;
}

export function createIpcPartStore(say: (message: FromWorker) => void): IpcPartStore {
  const waiting = new Map<number, Waiting>();
  let calls = 0;

  const unexpected = (): never => {
    throw new InternalError('an answer to a question that was not asked');
  };
  const wait = (call: number, want: Partial<Waiting>, reject: (error: Error) => void): void => {
    const fail = (failure: Failure): void => reject(new CodedError(failure.code, failure.message, { details: failure.details }));
    waiting.set(call, { answer: want.answer ?? unexpected, kept: want.kept ?? unexpected, fail });
  };

  return {
    find: question =>
      new Promise((resolve, reject) => {
        const call = calls++;
        wait(call, { answer: resolve }, reject);
        say({ kind: 'find-part', call, question });
      }),
    keep: (ticket, folder, names) =>
      new Promise((resolve, reject) => {
        const call = calls++;
        wait(call, { kept: resolve }, reject);
        say({ kind: 'keep-part', call, ticket, folder, names });
      }),
    drop: (ticket, why) => say({ kind: 'drop-part', ticket, why }),
    receive(message) {
      const asked = waiting.get(message.call) ?? unexpected();
      waiting.delete(message.call);
      switch (message.kind) {
        case 'part-answer':
          return asked.answer(message.answer);
        case 'part-kept':
          return asked.kept(message.files);
        case 'part-failed':
          return asked.fail(message.failure);
        default:
          return assertNever(message);
      }
    },
  };
}
