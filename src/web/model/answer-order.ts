/** The end of a process that answers one order: the result, a coded error, or a defect with its stack. */
import { isCodedError } from '../../base/coded-error.js';

export type ProcessAnswer<Result> =
  | { readonly kind: 'done'; readonly result: Result }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string; readonly help?: string | undefined }
  /** A defect. The stack is for the terminal. */
  | { readonly kind: 'failed'; readonly message: string; readonly stack: string };

/** To be called once, while the module loads. */
export function answerOrder<Order, Result>(work: (order: Order) => Promise<Result>): void {
  // Nobody waits for the answer any more, also where the server was killed.
  process.once('disconnect', () => process.exit());
  process.once('message', (order: Order) => {
    work(order)
      .then(
        (result): ProcessAnswer<Result> => ({ kind: 'done', result }),
        (error: unknown): ProcessAnswer<Result> => {
          if (!isCodedError(error)) return describeDefect(error);
          const { code, message, help } = error;
          return { kind: 'refused', code, message, help };
        },
      )
      .then(answer => process.send?.(answer, () => process.disconnect()));
  });
}

function describeDefect(error: unknown): ProcessAnswer<never> {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  return { kind: 'failed', message, stack: stack ?? message };
}
