/** Latency estimates for units, parts and models on the NPU: a roofline with fitted, published and assumed constants, not a measurement. */
import type { Target } from '../profile/choose-target.js';
import type { Constant } from '../profile/estimate-constants.js';
import type { EstimateBasis, EstimateConstant, LatencyEstimate, UnitEstimate } from '../report/compile-report.js';
import type { UnitWork } from '../units/unit-work.js';
import { constantsOf, findRelease, type Side } from './time-constants.js';
import { type TimeConstants, timeOnDevice } from './unit-time.js';

const FORMULA =
  'calls · (fixed + handover · min(CPU units, most parts) + Σ NPU (layer + max(padded work / (efficiency · peak), bytes / bandwidth)) + Σ CPU max(as on the NPU, work / rate + bytes / host bandwidth)); fixed, layer and work times the factor of the release';

/** @param factor rows per call relative to the exported batch: activations and MACs scale with it, weights do not. */
export function estimateUnit(target: Target, work: UnitWork, factor = 1): UnitEstimate {
  const { computeMs, memoryMs } = timeOnDevice(constantsOf(target, 'likely'), work, factor);
  return {
    ...boundedBy(target, constants => timeOnDevice(constants, work, factor).ms),
    bound: computeMs >= memoryMs ? 'compute' : 'memory',
    computeMs,
    memoryMs,
  };
}

/** The time for the likely constants, with its bounds: for the ends of the constants, widened by the spread of estimates where the profile has one. */
export function boundedBy(target: Target, timeOf: (constants: TimeConstants) => number): LatencyEstimate {
  const at = (side: Side): number => timeOf(constantsOf(target, side));
  const spread = target.device.estimate.spread?.factor ?? 1;
  return { ms: at('likely'), lowMs: at('fast') / spread, highMs: at('slow') * spread };
}

/** The estimate of `calls` calls that run `units` in total. */
export function estimateCalls(target: Target, calls: number, units: readonly LatencyEstimate[]): LatencyEstimate {
  return sumEstimates([
    scaleEstimate(
      boundedBy(target, ({ fixedMs }) => fixedMs),
      calls,
    ),
    ...units,
  ]);
}

export function sumEstimates(estimates: readonly LatencyEstimate[]): LatencyEstimate {
  let [ms, lowMs, highMs] = [0, 0, 0];
  for (const one of estimates) {
    ms += one.ms;
    lowMs += one.lowMs;
    highMs += one.highMs;
  }
  return { ms, lowMs, highMs };
}

export function scaleEstimate({ ms, lowMs, highMs }: LatencyEstimate, factor: number): LatencyEstimate {
  return { ms: ms * factor, lowMs: lowMs * factor, highMs: highMs * factor };
}

export function basisOf(target: Target): EstimateBasis {
  const { peak, efficiency, bandwidth, fixedMs, handoverMs, layerMs, spread } = target.device.estimate;
  const { host } = target;
  const release = findRelease(target);
  const describe = (name: string, constant: Constant): EstimateConstant => ({
    name,
    ...constant,
    source: target.sourceOf(constant.source),
  });
  return {
    formula: FORMULA,
    constants: [
      describe('peak', peak),
      ...(target.dtype.rate === undefined ? [] : [describe(`rate of ${target.identity.dtype}`, target.dtype.rate)]),
      describe('efficiency of Conv, Gemm, MatMul', efficiency.conv),
      describe('efficiency of depthwise Conv', efficiency.depthwise),
      describe('efficiency of other operators, by elements', efficiency.other),
      describe('bandwidth', bandwidth),
      describe('fixed', fixedMs),
      ...(layerMs === undefined ? [] : [describe('layer', layerMs)]),
      ...(release === undefined ? [] : [describe(`factor of release ${release.version}`, release.factor)]),
      describe('handover', handoverMs),
      describe('rate of the CPU, Conv, Gemm, MatMul', host.macs),
      describe('rate of the CPU, other operators', host.elements),
      describe('host bandwidth', host.bandwidth),
      ...(spread === undefined
        ? []
        : [{ name: 'spread of estimates', value: spread.factor, unit: '× and ÷', source: target.sourceOf(spread.source) }]),
    ],
  };
}
