/** Slots that nothing else needs, lent to a stage that has many parts left. A run that waits for one gets it back. */
import { setTimeout as wait } from 'node:timers/promises';
import type { LentSlots } from '../execute/run/lent-slots.js';
import type { StageQueue } from './stage-queue.js';
import type { Units } from './unit-counts.js';

/** Less urgent than every run and check. */
const LENT_LAST = -1e17;

/** A slot that is free for less time is between two stages. */
const SETTLED_MS = 100;

/** @param units of one slot: what the stage itself takes. @param most slots that are lent at once. */
export function createLentSlots(slots: StageQueue, units: Units, most: number): LentSlots {
  let wanted = 0;
  let asked = 0;
  let lent = 0;
  let next = 0;
  let tell: Parameters<LentSlots['attach']>[0] = () => undefined;
  /** Ends the loan of a slot, by its number. */
  const loans = new Map<number, () => void>();

  const ask = (): void => {
    while (asked + lent < wanted) {
      asked++;
      const slot = next++;
      const recalled = new AbortController();
      const options = { urgency: LENT_LAST, units, recall: () => recalled.abort() };
      // The next loan waits for a moment: whoever recalled this one starts before.
      slots.add(() => lend(slot, recalled.signal), options).finally(() => setTimeout(ask, SETTLED_MS).unref());
    }
  };

  const lend = async (slot: number, recalled: AbortSignal): Promise<void> => {
    const isSettled = asked + lent <= wanted && (await wait(SETTLED_MS, true, { signal: recalled }).catch(() => false));
    asked--;
    if (!isSettled || recalled.aborted || lent >= wanted) return;
    lent++;
    const over = new Promise<void>(resolve => loans.set(slot, resolve));
    recalled.addEventListener('abort', () => tell({ kind: 'slot-recalled', slot }), { once: true });
    tell({ kind: 'slot-lent', slot });
    await over;
    lent--;
  };

  return {
    most,
    attach(listener) {
      tell = listener;
    },
    want(count) {
      wanted = Math.max(0, Math.min(most, Math.trunc(count)));
      ask();
    },
    giveBack(slot) {
      loans.get(slot)?.();
      loans.delete(slot);
    },
    close() {
      wanted = 0;
      tell = () => undefined;
      for (const end of loans.values()) end();
      loans.clear();
    },
  };
}
