/** The time of units and calls by plain numbers: one formula for estimates and for the fit of their constants. */
import type { LayerShape, UnitWork } from '../units/unit-work.js';

/** Rates per second, times in milliseconds. */
export interface TimeConstants {
  /** Multiply-accumulates of Conv and matrix products. */
  readonly conv: number;
  readonly depthwise: number;
  /** Elements of other operators, times their window. */
  readonly other: number;
  readonly bandwidth: number;
  /** Per call. */
  readonly fixedMs: number;
  /** Per unit on the device. */
  readonly layerMs: number;
  /** Per unit on the CPU, up to `maxHandovers` of them. */
  readonly handoverMs: number;
  readonly maxHandovers: number;
  readonly lanes: LayerShape | undefined;
  readonly host: { readonly macs: number; readonly elements: number; readonly bandwidth: number };
  /** Bytes of the device per byte of the model. */
  readonly byteShare: number;
}

/** A unit with the place where it runs; 'edge': Q or DQ at an end of an NPU part, which runs on the host. */
export interface PlacedWork {
  readonly work: UnitWork;
  readonly where: 'npu' | 'cpu' | 'edge';
  /** Units that are equal; 1 if absent. */
  readonly count?: number;
}

export interface UnitTime {
  readonly ms: number;
  readonly computeMs: number;
  readonly memoryMs: number;
}

/** @param factor rows per call relative to the exported batch: activations and MACs scale with it, weights do not. */
export function timeOnDevice(constants: TimeConstants, work: UnitWork, factor = 1): UnitTime {
  const { lanes, layerMs, bandwidth, byteShare } = constants;
  const amount = (work.macs * paddingOf(work, lanes) + work.elements) * factor;
  const bytes = (work.weightBytes + (work.inputBytes + work.outputBytes) * factor) * byteShare;
  const computeMs = (1000 * amount) / constants[work.engine];
  const memoryMs = (1000 * bytes) / bandwidth;
  return { ms: layerMs + Math.max(computeMs, memoryMs), computeMs, memoryMs };
}

/** Arithmetic, and then the transfer of everything that the unit reads and writes. */
export function timeOnHost({ host }: TimeConstants, work: UnitWork, factor = 1): number {
  const bytes = work.weightBytes + (work.inputBytes + work.outputBytes) * factor;
  return 1000 * ((work.macs * factor) / host.macs + (work.elements * factor) / host.elements + bytes / host.bandwidth);
}

/** One call of a model: a unit that leaves the device costs at least what it would there, and a hand-over. */
export function timeOfCall(constants: TimeConstants, units: readonly PlacedWork[], factor = 1): number {
  let [onCpu, own] = [0, 0];
  for (const unit of units) {
    const { where, count = 1 } = unit;
    if (where === 'cpu') onCpu += count;
    own += count * timePlaced(constants, unit, factor);
  }
  return constants.fixedMs + constants.handoverMs * Math.min(onCpu, constants.maxHandovers) + own;
}

export function timePlaced(constants: TimeConstants, { work, where }: PlacedWork, factor = 1): number {
  const { ms } = timeOnDevice(constants, work, factor);
  return where === 'npu' ? ms : Math.max(ms, timeOnHost(constants, work, factor));
}

/** How much larger the work is with every size rounded up to what is computed at once. Depthwise Conv have a rate of their own. */
function paddingOf({ engine, shape }: UnitWork, lanes: LayerShape | undefined): number {
  if (shape === undefined || lanes === undefined || engine !== 'conv') return 1;
  const pad = (size: number, lane: number): number => (Math.ceil(size / lane) * lane) / size;
  return pad(shape.inputChannels, lanes.inputChannels) * pad(shape.outputChannels, lanes.outputChannels) * pad(shape.width, lanes.width);
}
