/** The target that a stage's params and its connected profile name. */
import type { Json } from '../../base/json.js';
import { TargetError } from '../report/target-error.js';
import { chooseTarget, getBuiltInProfile, type Target } from './choose-target.js';

export interface TargetParams {
  /** A built-in profile, or the name of the connected one. */
  readonly target?: string;
  readonly device?: string;
  readonly dtype?: string;
  /** Version of the vendor's software. */
  readonly software?: string;
}

/** @throws TargetError `target-missing`, `target-combination`, and as `chooseTarget`. */
export function openTarget({ target, device, dtype, software }: TargetParams, profile: Json | undefined): Target {
  const choice = {
    ...(device === undefined ? {} : { device }),
    ...(dtype === undefined ? {} : { dtype }),
    ...(software === undefined ? {} : { version: software }),
  };
  if (profile === undefined) {
    if (target !== undefined) return chooseTarget(getBuiltInProfile(target), choice);
    throw new TargetError('target-missing', 'no target is set', { help: 'set `target`, for example ryzen-ai, or connect a `profile`' });
  }
  const chosen = chooseTarget(profile, choice);
  if (target === undefined || target === chosen.identity.profile) return chosen;
  throw new TargetError('target-combination', `the connected profile is "${chosen.identity.profile}", but \`target\` is "${target}"`, {
    help: 'remove `target` or the profile',
  });
}
