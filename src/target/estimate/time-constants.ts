/** The constants of a target for one side of their bounds, with the factor of the chosen release. */
import type { Target } from '../profile/choose-target.js';
import type { Constant, EstimateProfile } from '../profile/estimate-constants.js';
import type { TimeConstants } from './unit-time.js';

/** likely: the values. fast, slow: the favorable and the unfavorable end of every constant. */
export type Side = 'likely' | 'fast' | 'slow';

/**
 * With a `spread`, which is that of whole estimates, the ends of single constants do not add up: `fast` and `slow` are then the ends of the rate of the data type
 * alone.
 */
export function constantsOf(target: Target, side: Side): TimeConstants {
  const { device, dtype, host, graph } = target;
  const { estimate } = device;
  const { peak, efficiency, bandwidth, fixedMs, handoverMs, layerMs, lanes, spread } = estimate;
  const rate = (constant: Constant): number => endOf(constant, side === 'fast' ? 'high' : side === 'slow' ? 'low' : 'value');
  const own = spread === undefined ? rate : (constant: Constant): number => constant.value;
  const time = (constant: Constant): number =>
    endOf(constant, spread !== undefined || side === 'likely' ? 'value' : side === 'fast' ? 'low' : 'high');
  const release = findRelease(target)?.factor.value ?? 1;
  const perSecond = (share: Constant): number => (own(share) * own(peak) * (dtype.rate === undefined ? 1 : rate(dtype.rate))) / release;
  return {
    conv: perSecond(efficiency.conv),
    depthwise: perSecond(efficiency.depthwise),
    other: perSecond(efficiency.other),
    bandwidth: own(bandwidth) / release,
    fixedMs: time(fixedMs) * release,
    layerMs: layerMs === undefined ? 0 : time(layerMs) * release,
    handoverMs: time(handoverMs),
    maxHandovers: graph.maxSubgraphs.value,
    lanes,
    host: { macs: own(host.macs), elements: own(host.elements), bandwidth: own(host.bandwidth) },
    // The values of a float model have 32 bits, those of the device 16.
    byteShare: dtype.form === 'float' ? 0.5 : 1,
  };
}

/** For a model that the CPU runs as a whole: nothing of the device is part of its time. */
export function hostConstantsOf({ host }: Target, side: Side): TimeConstants['host'] {
  const end = side === 'fast' ? 'high' : side === 'slow' ? 'low' : 'value';
  return { macs: host.macs[end], elements: host.elements[end], bandwidth: host.bandwidth[end] };
}

type Release = NonNullable<EstimateProfile['releases']>[number];

/** The factor of the chosen version: its own, else that of the last version before it, else that of the first after it. */
export function findRelease({ device, versions, identity }: Pick<Target, 'device' | 'versions' | 'identity'>): Release | undefined {
  const age = (version: string): number => versions.indexOf(version);
  const sorted = [...(device.estimate.releases ?? [])].sort((a, b) => age(a.version) - age(b.version));
  return sorted.findLast(({ version }) => age(version) <= age(identity.version)) ?? sorted[0];
}

function endOf(constant: Constant, end: 'value' | 'low' | 'high'): number {
  return constant[end];
}
