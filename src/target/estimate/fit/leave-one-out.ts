/** How well estimates predict networks that their constants have not seen, and points that contradict each other. */

import type { LatencyPoint, PublishedPoint } from '../published/latency-point.js';
import { type FitRequest, fitDevice, predict } from './fit-device.js';

export interface LeftOut {
  readonly point: LatencyPoint;
  /** By constants that were fitted without any point of the network. */
  readonly ms: number;
}

/** Each network in turn is left out, with all its points. */
export function leaveNetworksOut(request: FitRequest): readonly LeftOut[] {
  const networks = [...new Set(request.points.map(({ network }) => network))];
  return networks.flatMap(network => {
    const fit = fitDevice({ ...request, points: request.points.filter(point => point.network !== network) });
    return request.points.flatMap(point => (point.network === network ? [{ point, ms: predict(fit, point, request.given) }] : []));
  });
}

/** The median of |estimate ÷ measured − 1|. */
export function medianError(rows: readonly LeftOut[]): number {
  return quantile(
    rows.map(({ point, ms }) => Math.abs(ms / point.ms - 1)),
    0.5,
  );
}

/** The smallest factor so that `share` of measured times are within estimate ÷ factor and estimate · factor. */
export function spreadOf(rows: readonly LeftOut[], share: number): number {
  return Math.exp(
    quantile(
      rows.map(({ point, ms }) => Math.abs(Math.log(ms / point.ms))),
      share,
    ),
  );
}

/** The share of measured times within estimate ÷ factor and estimate · factor. */
export function coverageOf(rows: readonly LeftOut[], factor: number): number {
  return rows.filter(({ point, ms }) => Math.abs(Math.log(ms / point.ms)) <= Math.log(factor)).length / rows.length;
}

/** The least value of which at least `share` of all values are not above it. */
function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

export interface Contradiction {
  readonly network: string;
  readonly dtype: string;
  readonly device: string;
  /** Absent where one of the points does not name its version: it differs from the points of every version. */
  readonly software?: string;
  readonly points: readonly PublishedPoint[];
  /** The largest time divided by the smallest. */
  readonly ratio: number;
}

/** Points of one network on one device and version that differ by more than the factor; a point without a version, if it differs from all. */
export function findContradictions(points: readonly PublishedPoint[], factor: number): readonly Contradiction[] {
  const found: Contradiction[] = [];
  const keys = [...new Set(points.map(({ network, dtype, device }) => JSON.stringify([network, dtype, device])))];
  for (const key of keys) {
    const same = points.filter(({ network, dtype, device }) => JSON.stringify([network, dtype, device]) === key);
    for (const software of new Set(same.flatMap(point => point.software ?? []))) {
      const own = same.filter(point => point.software === software);
      const ratio = ratioOf(own);
      if (ratio > factor) found.push({ ...headOf(own), software, points: own, ratio });
    }
    for (const unnamed of same.filter(({ software }) => software === undefined)) {
      const others = same.filter(({ software }) => software !== undefined);
      if (others.length > 0 && others.every(other => ratioOf([other, unnamed]) > factor))
        found.push({
          ...headOf([unnamed]),
          points: [unnamed, ...others],
          ratio: Math.min(...others.map(other => ratioOf([other, unnamed]))),
        });
    }
  }
  return found;
}

function headOf(points: readonly PublishedPoint[]): Pick<Contradiction, 'network' | 'dtype' | 'device'> {
  const [{ network, dtype, device } = { network: '', dtype: '', device: '' }] = points;
  return { network, dtype, device };
}

function ratioOf(points: readonly PublishedPoint[]): number {
  const times = points.map(({ ms }) => ms);
  return Math.max(...times) / Math.min(...times);
}
