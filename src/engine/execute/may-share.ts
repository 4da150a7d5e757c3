/** Whether the results of a stage may come from and go to other machines. */
import type { PlannedStage } from '../model/plan.js';

/**
 * Measured figures belong to one machine. Secrets must not leave this one, and what the network gave is in no key.
 * A result that such a stage finds or makes stays here.
 */
export function mayShare({ determinism, secrets, network }: PlannedStage): boolean {
  return determinism === 'exact' && secrets.length === 0 && network === 'none';
}
