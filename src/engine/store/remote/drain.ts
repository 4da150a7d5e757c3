/** The end of uploads: all of them, or as many as an interrupted build waits for. */
import type PQueue from 'p-queue';
import { after } from '../../../base/after.js';
import { onAbort } from '../../../base/on-abort.js';

/** How long an interrupted build waits for what is going up. */
const DRAIN_MS = 5_000;

/** Resolves when all uploads have ended, or some time after the abort. */
export async function drain(uploads: PQueue, signal: AbortSignal): Promise<void> {
  let stop: () => void = () => undefined;
  const late = new Promise<void>(resolve => {
    const begin = (): void => {
      stop = after(DRAIN_MS, resolve);
    };
    if (signal.aborted) begin();
    else stop = onAbort(signal, begin);
  });
  await Promise.race([uploads.onIdle(), late]);
  stop();
}
