/** The reasons that keep the most multiply-accumulates off the NPU, one line each. */
import type { ModelReport, UnitReport } from './compile-report.js';

const MOST = 3;

interface Reason {
  readonly example: UnitReport;
  readonly model: string;
  readonly text: string;
  macs: number;
  units: number;
}

/** At most three, the costliest first; empty if every multiply-accumulate is on the NPU. Without multiply-accumulates, units are counted. */
export function listCostlyReasons(models: readonly ModelReport[]): readonly string[] {
  const total = { macs: 0, units: 0 };
  const reasons = new Map<string, Reason>();
  for (const { name, units, counts } of models) {
    total.macs += counts.macs;
    total.units += counts.units;
    for (const unit of units) if (unit.device === 'cpu') addReason(reasons, name, unit);
  }
  const costly = [...reasons.values()].filter(({ macs }) => macs > 0 || total.macs === 0);
  const sorted = costly.toSorted((a, b) => b.macs - a.macs || b.units - a.units);
  return sorted.slice(0, MOST).map(reason => describe(reason, total, models.length > 1 ? ` of ${reason.model}` : ''));
}

/** Units with one operator and one failed rule, or one reason of the partition, share a reason. Units without either have none. */
function addReason(reasons: Map<string, Reason>, model: string, unit: UnitReport): void {
  const finding = unit.findings.find(({ severity }) => severity !== 'warning');
  const text = finding?.message ?? unit.demoted;
  if (text === undefined) return;
  const key = JSON.stringify(finding === undefined ? [text] : [unit.opType, finding.rule, finding.limit]);
  const reason = reasons.get(key) ?? { example: unit, model, text, macs: 0, units: 0 };
  reason.macs += unit.macs;
  reason.units += 1;
  reasons.set(key, reason);
}

function describe({ example, text, macs, units }: Reason, total: { readonly macs: number; readonly units: number }, of: string): string {
  const share = total.macs === 0 ? units / total.units : macs / total.macs;
  const what = total.macs === 0 ? 'units' : 'multiply-accumulates';
  const others = units === 1 ? '' : ` and ${units - 1} more`;
  return `${(100 * share).toFixed(1)} % of the ${what} on the CPU: ${example.opType} "${example.name}"${of}${others}: ${text}`;
}
