/** When each unit and part of one call would run, by the estimates of its units. */
import type { CompiledModel, Unit } from './compile-report.js';

export interface CallSpan {
  readonly unit: Unit;
  readonly fromMs: number;
  readonly ms: number;
}

export interface PartSpan {
  readonly part: CompiledModel['parts'][number];
  readonly fromMs: number;
  readonly ms: number;
}

export interface CallSpans {
  readonly units: readonly CallSpan[];
  readonly parts: readonly PartSpan[];
  /** 0 for reports without estimates of units, as of 0.1. */
  readonly endMs: number;
}

/** Parts run in their order, and units of a part in theirs; units without a time are left out. */
export function listCallSpans({ units, parts }: Pick<CompiledModel, 'units' | 'parts'>): CallSpans {
  const byId = new Map(units.map(unit => [unit.id, unit]));
  const spans: CallSpan[] = [];
  const partSpans: PartSpan[] = [];
  let atMs = 0;
  for (const part of parts) {
    const startMs = atMs;
    for (const id of part.units) {
      const unit = byId.get(id);
      const ms = unit?.callMs ?? unit?.estimate?.ms ?? 0;
      if (unit === undefined || ms <= 0) continue;
      spans.push({ unit, fromMs: atMs, ms });
      atMs += ms;
    }
    partSpans.push({ part, fromMs: startMs, ms: atMs - startMs });
  }
  return { units: spans, parts: partSpans, endMs: atMs };
}
