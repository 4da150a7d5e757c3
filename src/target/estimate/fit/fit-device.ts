/** Fits the constants of a device to measured times: least squares of logarithms, with outliers damped and wide priors. */
import { getDefined } from '../../../base/invariant.js';
import type { LatencyPoint } from '../published/latency-point.js';
import { type TimeConstants, timeOfCall } from '../unit-time.js';
import { minimizeSquares } from './least-squares.js';

/** A constant before a point is seen: its likely value, and the standard deviation of its logarithm. */
export interface Prior {
  readonly value: number;
  readonly deviation: number;
}

export const RATES = ['conv', 'depthwise', 'other', 'bandwidth'] as const;
export const TIMES = ['fixedMs', 'layerMs', 'handoverMs'] as const;

export type FittedName = (typeof RATES)[number] | (typeof TIMES)[number];

export type Priors = Readonly<Record<FittedName, Prior>>;

/** 0.7: within a factor of 2 with a probability of two thirds. 1.2: within a factor of 3.3. */
export const WIDE_PRIORS: Priors = {
  conv: { value: 2e12, deviation: 1 },
  depthwise: { value: 5e10, deviation: 1.2 },
  other: { value: 2e9, deviation: 1.2 },
  bandwidth: { value: 25e9, deviation: 0.7 },
  fixedMs: { value: 0.8, deviation: 0.7 },
  layerMs: { value: 0.008, deviation: 1 },
  handoverMs: { value: 0.5, deviation: 0.7 },
};

const RELEASE_PRIOR: Prior = { value: 1, deviation: 0.7 };

/** Standard deviation of the logarithm of a measured time around its estimate. */
const NOISE = 0.2;
/** Residuals of more than this many deviations count by their size, not by its square. */
const OUTLIER = 1.5;

export interface DeviceFit {
  /** Value with the factor of one standard error: within `value / error` and `value · error`. */
  readonly constants: Readonly<Record<FittedName, FittedConstant>>;
  /** Factor of each version that has points; 1 for `reference`. */
  readonly releases: ReadonlyMap<string, FittedConstant>;
  readonly reference: string;
}

export interface FittedConstant {
  readonly value: number;
  readonly error: number;
}

export interface FitRequest {
  readonly points: readonly LatencyPoint[];
  /** What is not fitted: lanes, rates of the host, most hand-overs by version. */
  readonly given: (software: string) => TimeConstants;
  readonly priors: Priors;
  /** The version whose factor is 1; others have one of their own. */
  readonly reference: string;
  /** Factors that are known before, of versions. */
  readonly releases?: Readonly<Record<string, Prior>>;
}

/** A constant to which no point says anything keeps its prior. Equal points give equal constants. */
export function fitDevice({ points, given, priors, reference, releases = {} }: FitRequest): DeviceFit {
  const names = [...RATES, ...TIMES];
  const versions = [...new Set(points.map(groupOf))].filter(version => version !== reference).sort();
  const known = [...names.map(name => priors[name]), ...versions.map(version => releases[version] ?? RELEASE_PRIOR)];
  const fitOf = (logs: readonly number[]): DeviceFit =>
    toFit(
      logs,
      logs.map(() => 0),
      { names, versions, reference },
    );
  const { solution, errors } = minimizeSquares(
    logs => {
      const fitted = fitOf(logs);
      return [
        ...points.map(point => damp(Math.log(predict(fitted, point, given) / point.ms) / (point.noise ?? NOISE))),
        ...logs.map((log, index) => {
          const { value, deviation } = getDefined(known[index], 'prior');
          return (log - Math.log(value)) / deviation;
        }),
      ];
    },
    known.map(({ value }) => Math.log(value)),
  );
  return toFit(solution, errors, { names, versions, reference });
}

/** The time that a fit gives for a measured network. */
export function predict(fit: DeviceFit, point: Pick<LatencyPoint, 'software' | 'units' | 'group'>, given: FitRequest['given']): number {
  return timeOfCall(withFit(given(point.software), fit, groupOf(point)), point.units);
}

function groupOf({ group, software }: Pick<LatencyPoint, 'software' | 'group'>): string {
  return group ?? software;
}

/** A group without a factor has that of the reference. */
function withFit(constants: TimeConstants, { constants: fitted, releases }: DeviceFit, group: string): TimeConstants {
  const factor = releases.get(group)?.value ?? 1;
  return {
    ...constants,
    ...Object.fromEntries(RATES.map(name => [name, fitted[name].value / factor])),
    fixedMs: fitted.fixedMs.value * factor,
    layerMs: fitted.layerMs.value * factor,
    handoverMs: fitted.handoverMs.value,
  };
}

interface Names {
  readonly names: readonly FittedName[];
  readonly versions: readonly string[];
  readonly reference: string;
}

function toFit(logs: readonly number[], errors: readonly number[], { names, versions, reference }: Names): DeviceFit {
  const at = (index: number): FittedConstant => ({ value: Math.exp(logs[index] ?? 0), error: Math.exp(errors[index] ?? 0) });
  const constants = Object.fromEntries(names.map((name, index) => [name, at(index)])) as Record<FittedName, FittedConstant>;
  const releases = new Map(versions.map((version, index) => [version, at(names.length + index)]));
  const sorted = [...releases.set(reference, { value: 1, error: 1 })].sort(([a], [b]) => (a < b ? -1 : 1));
  return { constants, releases: new Map(sorted), reference };
}

/** A residual whose square is pseudo-Huber's loss. */
function damp(residual: number): number {
  return Math.sign(residual) * OUTLIER * Math.sqrt(2 * (Math.sqrt(1 + (residual / OUTLIER) ** 2) - 1));
}
