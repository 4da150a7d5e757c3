/** A profile whose device has the constants of a fit. */

import { toJsonObject } from '../../../base/json/to-json.js';
import { isJsonObject, type Json, type JsonObject } from '../../../base/json.js';
import type { Constant } from '../../profile/estimate-constants.js';
import type { Source } from '../../report/finding.js';
import type { DeviceFit, FitRequest, FittedConstant, FittedName } from './fit-device.js';

export interface FittedProfile {
  readonly device: string;
  readonly fit: DeviceFit;
  readonly request: Pick<FitRequest, 'priors'>;
  /** Key and source of the fitted constants. */
  readonly source: readonly [key: string, source: Source];
  /** Of whole estimates; the profile's own if absent. */
  readonly spread?: { readonly factor: number; readonly share: number };
}

/** Share of the prior's deviation above which points said next to nothing: such a constant keeps what the profile has. */
const UNMOVED = 0.9;

/** @param profile a complete profile. Constants have three digits, and their bounds are one standard error away. */
export function withDeviceFit(profile: Json, { device, fit, request, source: [key, source], spread }: FittedProfile): JsonObject {
  const own = objectOf(profile);
  const devices = objectOf(own.devices);
  const entry = objectOf(devices[device]);
  const estimate = objectOf(entry.estimate);
  const efficiency = objectOf(estimate.efficiency);
  const peak = Number(objectOf(estimate.peak).value);
  const moved = (name: FittedName): boolean => Math.log(fit.constants[name].error) < UNMOVED * request.priors[name].deviation;
  const constant = (name: FittedName, unit: string, scale: number, before: Json | undefined): Json =>
    before !== undefined && !moved(name) ? before : toJsonObject(toConstant(fit.constants[name], { unit, scale, source: key }));
  const share = 'of the peak';
  const fitted = {
    ...estimate,
    efficiency: {
      conv: constant('conv', share, 1 / peak, efficiency.conv),
      depthwise: constant('depthwise', share, 1 / peak, efficiency.depthwise),
      other: constant('other', share, 1 / peak, efficiency.other),
    },
    bandwidth: constant('bandwidth', 'B/s', 1, estimate.bandwidth),
    fixedMs: constant('fixedMs', 'ms', 1, estimate.fixedMs),
    layerMs: constant('layerMs', 'ms', 1, estimate.layerMs),
    handoverMs: constant('handoverMs', 'ms', 1, estimate.handoverMs),
    releases: [...fit.releases].map(([version, factor]) => ({
      version,
      factor: toJsonObject(toConstant(factor, { unit: '×', scale: 1, source: key })),
    })),
    ...(spread === undefined ? {} : { spread: { factor: digits(spread.factor), share: spread.share, source: key } }),
  };
  return {
    ...own,
    sources: { ...objectOf(own.sources), [key]: toJsonObject(source) },
    devices: { ...devices, [device]: { ...entry, estimate: fitted } },
  };
}

function toConstant({ value, error }: FittedConstant, { unit, scale, source }: { unit: string; scale: number; source: string }): Constant {
  return { value: digits(value * scale), low: digits((value * scale) / error), high: digits(value * scale * error), unit, source };
}

function digits(value: number): number {
  return Number(value.toPrecision(3));
}

function objectOf(json: Json | undefined): JsonObject {
  return isJsonObject(json) ? json : {};
}
