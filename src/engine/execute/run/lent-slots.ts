/** What a run knows of the slots that are lent to it. */
import type { ToWorker } from '../worker/messages.js';

export interface LentSlots {
  /** Slots that can be lent at once. */
  readonly most: number;
  /** @param tell gets the slots that are lent and recalled. */
  attach(tell: (message: Extract<ToWorker, { readonly kind: 'slot-lent' | 'slot-recalled' }>) => void): void;
  /** States how many slots the run could use now. */
  want(count: number): void;
  giveBack(slot: number): void;
  /** Ends all loans. */
  close(): void;
}
