/** The layers of a compile report with their share of an estimated call. */
import type { ModelReport, UnitReport } from '../report/compile-report.js';

type Estimated = Pick<ModelReport, 'units'> & { readonly estimate: { readonly image?: ModelReport['estimate']['image'] | undefined } };

export interface LayerRow {
  readonly name: string;
  readonly opType: string;
  readonly device: 'npu' | 'cpu';
  readonly macs: number;
  /** Weights, inputs and outputs. */
  readonly bytes: number;
  /** What bounds it on the NPU; 'layer': the time besides its work is longer than both. Undefined elsewhere. */
  readonly bound?: 'compute' | 'memory' | 'layer';
  readonly ms: number;
  /** Of the whole call. */
  readonly share: number;
}

/** In the order of execution; undefined for a report of an earlier version. */
export function listLayers({ units, estimate }: Estimated): { readonly rows: readonly LayerRow[]; readonly fixedMs: number } | undefined {
  const total = estimate.image?.perCall.ms;
  if (total === undefined || units.some(({ callMs }) => callMs === undefined)) return undefined;
  const rows = units.map((unit): LayerRow => {
    const { name, opType, device, edge, macs, weightBytes, inputBytes, outputBytes, callMs = 0 } = unit;
    const bound = boundOf(unit);
    return {
      name,
      opType,
      device: edge ? 'cpu' : device,
      macs,
      bytes: weightBytes + inputBytes + outputBytes,
      ...(bound === undefined ? {} : { bound }),
      ms: callMs,
      share: total === 0 ? 0 : callMs / total,
    };
  });
  return { rows, fixedMs: Math.max(0, total - rows.reduce((sum, { ms }) => sum + ms, 0)) };
}

/** Undefined without an estimate. */
export function boundOf({ estimate }: { readonly estimate?: UnitReport['estimate'] | undefined }): LayerRow['bound'] {
  if (estimate === undefined) return undefined;
  const { ms, bound, computeMs = 0, memoryMs = 0 } = estimate;
  return ms > 2 * Math.max(computeMs, memoryMs) ? 'layer' : bound;
}
