/** Fits the estimate of a device to own measurements, together with the published points of the same device. */
import type { Json, JsonObject } from '../../../base/json.js';
import { chooseTarget } from '../../profile/choose-target.js';
import type { Constant } from '../../profile/estimate-constants.js';
import type { TargetIdentity } from '../../report/compile-report.js';
import type { LatencyPoint } from '../published/latency-point.js';
import { readPublished } from '../published/published-points.js';
import { timeOfCall } from '../unit-time.js';
import { givenConstants, requestFit } from './device-request.js';
import { type DeviceFit, type FitRequest, type FittedName, fitDevice, type Prior, type Priors, predict } from './fit-device.js';
import { leaveNetworksOut, medianError, spreadOf } from './leave-one-out.js';
import { ownGroup } from './own-points.js';
import { withDeviceFit } from './profile-with-fit.js';

export interface Residual {
  readonly network: string;
  readonly measuredMs: number;
  /** By the profile as it was. */
  readonly beforeMs: number;
  readonly afterMs: number;
  /** By a fit without the network; absent if there is no other one. */
  readonly leftOutMs?: number;
}

export interface Recalibrated {
  readonly profile: JsonObject;
  readonly fit: DeviceFit;
  readonly rows: readonly Residual[];
  readonly published: { readonly points: number; readonly medianErrorBefore: number; readonly medianErrorAfter: number };
  readonly spread: number;
}

export interface RecalibrateRequest {
  /** Complete and parsed. */
  readonly profile: Json;
  readonly identity: Pick<TargetIdentity, 'profile' | 'device' | 'dtype' | 'version'>;
  readonly points: readonly LatencyPoint[];
  /** SHA-256 of the measurements. */
  readonly digest: string;
}

/** The profile whose published points are in this project. */
const PUBLISHED_PROFILE = 'ryzen-ai';
/** With fewer own networks, the spread stays that of the profile. */
const FEWEST_FOR_SPREAD = 4;
const SHARE = 0.9;
const SOURCE = 'own-fit';

export function recalibrate({ profile, identity, points, digest }: RecalibrateRequest): Recalibrated {
  const { device, dtype, version } = identity;
  const target = chooseTarget(profile, { device, dtype, version });
  const published = identity.profile === PUBLISHED_PROFILE ? requestFit(profile, device, readPublished()) : undefined;
  const request: FitRequest = {
    points: [...(published?.points ?? []), ...points],
    given: givenConstants(profile, device, dtype),
    priors: published === undefined || published.points.length === 0 ? priorsOf(profile, identity) : published.priors,
    reference: published === undefined || published.points.length === 0 ? ownGroup(version) : published.reference,
  };
  const fit = fitDevice(request);
  const leftOut = leaveNetworksOut({ ...request, points: request.points });
  const own = leftOut.filter(({ point }) => point.group !== undefined);
  const isAlone = new Set(request.points.map(({ network }) => network)).size === 1;
  const before = (point: LatencyPoint): number => timeOfCall(request.given(point.software), point.units);
  const enough = new Set(own.map(({ point }) => point.network)).size >= FEWEST_FOR_SPREAD;
  const spread = enough ? Math.max(1.1, spreadOf(own, SHARE)) : (target.device.estimate.spread?.factor ?? 2);
  const title = `fitted to ${points.length} own measurements, ${identity.profile} ${device}, ${dtype}, ${version}`;
  return {
    profile: withDeviceFit(profile, {
      device,
      fit: withOwnFactor(fit, version),
      request,
      source: [SOURCE, { kind: 'fit', title, ref: `measurements with SHA-256 ${digest}` }],
      spread: { factor: spread, share: target.device.estimate.spread?.share ?? SHARE },
    }),
    fit,
    rows: points.map((point): Residual => {
      const without = own.find(row => row.point === point);
      return {
        network: point.network,
        measuredMs: point.ms,
        beforeMs: before(point),
        afterMs: predict(fit, point, request.given),
        ...(isAlone || without === undefined ? {} : { leftOutMs: without.ms }),
      };
    }),
    published: {
      points: published?.points.length ?? 0,
      medianErrorBefore: medianError((published?.points ?? []).map(point => ({ point, ms: before(point) }))),
      medianErrorAfter: medianError((published?.points ?? []).map(point => ({ point, ms: predict(fit, point, request.given) }))),
    },
    spread,
  };
}

/** The factor of the own board replaces that of published points of its version. */
function withOwnFactor(fit: DeviceFit, version: string): DeviceFit {
  const own = fit.releases.get(ownGroup(version));
  const others = [...fit.releases].filter(([name]) => name !== ownGroup(version) && name !== version);
  return { ...fit, releases: new Map([...others, ...(own === undefined ? [] : [[version, own] as const])]) };
}

/** Constants of the profile with half of the logarithm of their bounds, and at least a third. */
function priorsOf(profile: Json, { device, dtype }: RecalibrateRequest['identity']): Priors {
  const { peak, efficiency, bandwidth, fixedMs, layerMs, handoverMs } = chooseTarget(profile, { device, dtype }).device.estimate;
  const of = ({ value, low, high }: Constant, scale = 1): Prior => ({
    value: value * scale,
    deviation: Math.max(0.33, Math.log(high / low) / 2),
  });
  const priors: Record<FittedName, Prior> = {
    conv: of(efficiency.conv, peak.value),
    depthwise: of(efficiency.depthwise, peak.value),
    other: of(efficiency.other, peak.value),
    bandwidth: of(bandwidth),
    fixedMs: of(fixedMs),
    layerMs: layerMs === undefined ? { value: 0.008, deviation: 1 } : of(layerMs),
    handoverMs: of(handoverMs),
  };
  return priors;
}
