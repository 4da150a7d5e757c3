/** The shift bounds of AMD's NPUs, for quantizers that move positions into them. */
import { getDefined } from '../../base/invariant.js';
import { chooseTarget, getBuiltInProfile } from './choose-target.js';
import type { PositionLimits } from './profile.js';

/** Those of data type xint8 of the built-in profile. */
export function getShiftBounds(): PositionLimits {
  const { dtype } = chooseTarget(getBuiltInProfile('ryzen-ai'), { dtype: 'xint8' });
  return getDefined(dtype.positions, 'bounds on positions');
}
