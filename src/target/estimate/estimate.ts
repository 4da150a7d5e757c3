/** Latency estimates for units, parts and models on the NPU: a roofline with published and assumed constants, not a measurement. */
import type { Target } from '../profile/choose-target.js';
import type { Constant } from '../profile/profile.js';
import type { EstimateBasis, EstimateConstant, LatencyEstimate, UnitEstimate } from '../report/compile-report.js';
import type { UnitWork } from '../units/unit-work.js';

const FORMULA =
  'calls · (fixed + handover · min(CPU units, most parts) + Σ NPU max(work / (efficiency · peak), bytes / bandwidth) + Σ CPU max(as on the NPU, work / rate + bytes / host bandwidth))';

/** @param factor rows per call relative to the exported batch: activations and MACs scale with it, weights do not. */
export function estimateUnit({ device, dtype }: Target, work: UnitWork, factor = 1): UnitEstimate {
  const { peak, efficiency, bandwidth } = device.estimate;
  const share = efficiency[work.engine];
  const amount = (work.macs + work.elements) * factor;
  // The values of a float model have 32 bits, those of the device 16.
  const bytes = (work.weightBytes + (work.inputBytes + work.outputBytes) * factor) * (dtype.form === 'float' ? 0.5 : 1);
  const rateOf = (of: (constant: Constant) => number): number => (dtype.rate === undefined ? 1 : of(dtype.rate));
  const at = (of: (constant: Constant) => number): { compute: number; memory: number } => ({
    compute: (1000 * amount) / (of(share) * of(peak) * rateOf(of)),
    memory: (1000 * bytes) / of(bandwidth),
  });
  const likely = at(constant => constant.value);
  const fast = at(constant => constant.high);
  const slow = at(constant => constant.low);
  return {
    ms: Math.max(likely.compute, likely.memory),
    lowMs: Math.max(fast.compute, fast.memory),
    highMs: Math.max(slow.compute, slow.memory),
    bound: likely.compute >= likely.memory ? 'compute' : 'memory',
  };
}

/** The estimate of `calls` calls that run `units` in total. */
export function estimateCalls({ device }: Target, calls: number, units: readonly LatencyEstimate[]): LatencyEstimate {
  const { fixedMs } = device.estimate;
  return sumEstimates([{ ms: calls * fixedMs.value, lowMs: calls * fixedMs.low, highMs: calls * fixedMs.high }, ...units]);
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
  const { peak, efficiency, bandwidth, fixedMs, handoverMs } = target.device.estimate;
  const { host } = target;
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
      describe('handover', handoverMs),
      describe('rate of the CPU, Conv, Gemm, MatMul', host.macs),
      describe('rate of the CPU, other operators', host.elements),
      describe('host bandwidth', host.bandwidth),
    ],
  };
}
