/** Estimates the time of a model per image: all its calls, units on the CPU at a stated rate, and transfers. */
import type { Target } from '../profile/choose-target.js';
import type { LatencyEstimate } from '../report/compile-report.js';
import type { UnitWork } from '../units/unit-work.js';
import { boundedBy } from './estimate.js';
import { constantsOf, hostConstantsOf, type Side } from './time-constants.js';
import { type PlacedWork, timeOfCall, timeOnHost, timePlaced } from './unit-time.js';

/**
 * One call of a model. It never falls if units move from the NPU to the CPU: such a unit costs at least what it would on the NPU, and a hand-over.
 * The number of hand-overs is bounded by the number of NPU parts that the target takes.
 *
 * @param factor rows per call relative to the exported batch.
 */
export function estimateCall(target: Target, units: readonly PlacedWork[], factor = 1): LatencyEstimate {
  return boundedBy(target, constants => timeOfCall(constants, units, factor));
}

/** The share of each unit in one call, likely value; what is left of the call is its fixed time. */
export function listCallTimes(target: Target, units: readonly PlacedWork[]): readonly number[] {
  const constants = constantsOf(target, 'likely');
  const onCpu = units.filter(({ where }) => where === 'cpu').length;
  const handoverMs = onCpu === 0 ? 0 : (constants.handoverMs * Math.min(onCpu, constants.maxHandovers)) / onCpu;
  return units.map(unit => timePlaced(constants, unit) + (unit.where === 'cpu' ? handoverMs : 0));
}

/** The same of a model that runs on the CPU as a whole. */
export function listHostTimes(target: Target, works: readonly UnitWork[]): readonly number[] {
  const constants = constantsOf(target, 'likely');
  return works.map(work => timeOnHost(constants, work));
}

export function roofOf(target: Target): { readonly macsPerSecond: number; readonly bytesPerSecond: number; readonly layerMs: number } {
  const { conv, bandwidth, byteShare, layerMs } = constantsOf(target, 'likely');
  return { macsPerSecond: conv, bytesPerSecond: bandwidth / byteShare, layerMs };
}

/** One call of a model that runs on the CPU as a whole: no call of the device, no hand-over. */
export function estimateHostCall(target: Target, works: readonly UnitWork[]): LatencyEstimate {
  const at = (side: Side): number => {
    const constants = { ...constantsOf(target, side), host: hostConstantsOf(target, side) };
    return works.reduce((sum, work) => sum + timeOnHost(constants, work), 0);
  };
  return { ms: at('likely'), lowMs: at('fast'), highMs: at('slow') };
}
