/** The actions whose results count as the locked outputs of a stage. */
import { asLocked } from '../action/manifest.js';
import { type PinnedStage, pinnedStage } from '../action/pinned-stage.js';
import type { AllowedOutputs } from './locked-outputs.js';

/**
 * The stage's own action, the same action on the platform classes that the lock file lists, and the action marked as locked. No run on
 * this machine has confirmed a result of the last one, so only frozen builds accept it.
 */
export function lockedActions(pinned: PinnedStage, allowed: AllowedOutputs): readonly PinnedStage[] {
  const { manifest } = pinned;
  const classes = allowed.kind === 'elsewhere' && manifest.platformClass !== undefined ? [...allowed.classes.keys()] : [];
  return [pinned, ...classes.map(platformClass => pinnedStage({ ...manifest, platformClass }, pinned)), pinLocked(pinned)];
}

/** The action marked as locked. */
export function pinLocked(pinned: PinnedStage): PinnedStage {
  return pinnedStage(asLocked(pinned.manifest), pinned);
}
