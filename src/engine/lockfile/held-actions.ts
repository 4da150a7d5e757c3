/** The actions whose results count as the locked ones of a stage. */
import { asLocked } from '../action/manifest.js';
import { type PinnedStage, pinnedStage } from '../action/pinned-stage.js';
import type { StageHold } from './hold.js';

/**
 * Its own action; the same on the platform classes for which it is locked; and the action marked as locked, whose result this machine has not seen made:
 * only frozen builds take that one.
 */
export function heldActions(pinned: PinnedStage, hold: StageHold): readonly PinnedStage[] {
  const { manifest } = pinned;
  const classes = hold.kind === 'elsewhere' && manifest.platformClass !== undefined ? [...hold.classes.keys()] : [];
  return [pinned, ...classes.map(platformClass => pinnedStage({ ...manifest, platformClass }, pinned)), pinLocked(pinned)];
}

/** The action marked as locked. */
export function pinLocked(pinned: PinnedStage): PinnedStage {
  return pinnedStage(asLocked(pinned.manifest), pinned);
}
