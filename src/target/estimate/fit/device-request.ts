/** What is needed to fit a device of a profile: its published points, the constants that are not fitted, and where its releases are anchored. */
import type { Json } from '../../../base/json.js';
import { chooseTarget } from '../../profile/choose-target.js';
import type { Published } from '../published/published-points.js';
import { listPublishedPoints } from '../published/published-points.js';
import { constantsOf } from '../time-constants.js';
import type { TimeConstants } from '../unit-time.js';
import { type FitRequest, WIDE_PRIORS } from './fit-device.js';

/** The data type of all published points. */
const DTYPE = 'xint8';

/** The newest version with points has the factor 1. */
export function requestFit(profile: Json, device: string, published: Published): FitRequest {
  const points = listPublishedPoints(published, device);
  const { versions } = chooseTarget(profile, { device, dtype: DTYPE });
  const measured = versions.filter(version => points.some(({ software }) => software === version));
  return { points, given: givenConstants(profile, device, DTYPE), priors: WIDE_PRIORS, reference: measured.at(-1) ?? '' };
}

/** The constants of the profile, for each version; those that are fitted are replaced. */
export function givenConstants(profile: Json, device: string, dtype: string): (software: string) => TimeConstants {
  const known = new Map<string, TimeConstants>();
  return software => {
    const constants = known.get(software) ?? constantsOf(chooseTarget(profile, { device, dtype, version: software }), 'likely');
    known.set(software, constants);
    return constants;
  };
}
