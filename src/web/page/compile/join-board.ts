/** Joins the report of `compile` with the figures of a board, model by model. */
import { isJsonObject } from '../../../base/json.js';
import type { BenchReport, PartReport } from '../../../runtime/measure/bench-report.js';
import type { CompileReport } from './compile-report.js';

export interface BoardRow {
  readonly model: string;
  /** Per call, as the board was timed; an estimate. */
  readonly estimate: { readonly ms: number; readonly lowMs: number; readonly highMs: number } | undefined;
  /** p50 of one call. */
  readonly measuredMs: number | undefined;
  /** Whether the measured time lies in the interval of the estimate. */
  readonly within: 'yes' | 'faster' | 'slower' | undefined;
  readonly npuNodes: number;
  /** undefined: the board did not report where nodes ran. */
  readonly boardNpuNodes: number | undefined;
}

/** Times of a CPU, of this machine or behind an external runner, say nothing about a board. */
export function isOfBoard({ where: { runner, identity } }: BenchReport): boolean {
  if (runner === 'bundle') return true;
  const device = isJsonObject(identity) ? identity.device : undefined;
  return runner === 'external' && isJsonObject(device) && device.kind !== 'cpu';
}

/** One row per compiled model; without figures where the board did not run it. */
export function joinBoard({ models }: CompileReport, bench: BenchReport): readonly BoardRow[] {
  const parts = new Map(bench.parts.map(part => [part.part, part]));
  return models.map(({ name, estimate, counts }): BoardRow => {
    const predicted = estimate?.image?.perCall;
    const { measuredMs, boardNpuNodes } = findMeasured(parts.get(name), bench);
    const within = predicted === undefined || measuredMs === undefined ? undefined : compare(measuredMs, predicted);
    return { model: name, estimate: predicted, measuredMs, within, npuNodes: counts.npuNodes, boardNpuNodes };
  });
}

function compare(ms: number, { lowMs, highMs }: { readonly lowMs: number; readonly highMs: number }): NonNullable<BoardRow['within']> {
  if (ms < lowMs) return 'faster';
  return ms > highMs ? 'slower' : 'yes';
}

/** The first strategy of the quantized form: of a bundle, one call. */
function findMeasured(part: PartReport | undefined, { where }: BenchReport): Pick<BoardRow, 'measuredMs' | 'boardNpuNodes'> {
  const form = part?.forms.find(one => one.form === 'int8') ?? part?.forms[0];
  const [row] = form?.rows ?? [];
  const [count] = row?.counts ?? [];
  const latency = where.runner === 'external' ? (count?.device ?? count?.here) : count?.here;
  const calls = count?.calls ?? 0;
  const placed = form?.placement?.filter(({ device }) => device === 'npu');
  return {
    measuredMs: latency === undefined ? undefined : where.runner === 'external' && calls > 1 ? latency.p50Ms / calls : latency.p50Ms,
    boardNpuNodes: placed?.reduce((sum, { nodes }) => sum + nodes, 0),
  };
}
