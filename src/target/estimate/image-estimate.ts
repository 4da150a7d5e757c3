/** Estimates the time of a model per image: all its calls, units on the CPU at a stated rate, and transfers. */
import type { Target } from '../profile/choose-target.js';
import type { Constant } from '../profile/profile.js';
import type { LatencyEstimate } from '../report/compile-report.js';
import type { UnitWork } from '../units/unit-work.js';
import { estimateUnit, scaleEstimate, sumEstimates } from './estimate.js';

export interface PlacedWork {
  readonly work: UnitWork;
  /** 'edge': Q or DQ at an end of an NPU part, which runs on the host. */
  readonly where: 'npu' | 'cpu' | 'edge';
}

/**
 * One call of a model. It never falls if units move from the NPU to the CPU: such a unit costs at least what it would on the NPU, and a hand-over.
 * The number of hand-overs is bounded by the number of NPU parts that the target takes.
 *
 * @param factor rows per call relative to the exported batch.
 */
export function estimateCall(target: Target, units: readonly PlacedWork[], factor = 1): LatencyEstimate {
  const { fixedMs, handoverMs } = target.device.estimate;
  const onCpu = units.filter(({ where }) => where === 'cpu').length;
  const handovers = Math.min(onCpu, target.graph.maxSubgraphs.value);
  return sumEstimates([
    boundsOf(fixedMs),
    scaleEstimate(boundsOf(handoverMs), handovers),
    ...units.map(unit => estimatePlaced(target, unit, factor)),
  ]);
}

function estimatePlaced(target: Target, { work, where }: PlacedWork, factor: number): LatencyEstimate {
  const npu = estimateUnit(target, work, factor);
  if (where === 'npu') return npu;
  const cpu = estimateOnHost(target, work, factor);
  return { ms: Math.max(npu.ms, cpu.ms), lowMs: Math.max(npu.lowMs, cpu.lowMs), highMs: Math.max(npu.highMs, cpu.highMs) };
}

/** One call of a model that runs on the CPU as a whole: no call of the device, no hand-over. */
export function estimateHostCall(target: Target, works: readonly UnitWork[]): LatencyEstimate {
  return sumEstimates(works.map(work => estimateOnHost(target, work, 1)));
}

/** Arithmetic, and then the transfer of everything that the unit reads and writes. */
function estimateOnHost({ host }: Target, work: UnitWork, factor: number): LatencyEstimate {
  const bytes = work.weightBytes + (work.inputBytes + work.outputBytes) * factor;
  const at = (of: (constant: Constant) => number): number =>
    1000 * ((work.macs * factor) / of(host.macs) + (work.elements * factor) / of(host.elements) + bytes / of(host.bandwidth));
  return { ms: at(constant => constant.value), lowMs: at(constant => constant.high), highMs: at(constant => constant.low) };
}

function boundsOf({ value, low, high }: Constant): LatencyEstimate {
  return { ms: value, lowMs: low, highMs: high };
}
