/** Why units are not on the NPU: findings that differ only in what was measured are one entry. */
import type { CompiledModel, Unit } from './compile-report.js';

export type Finding = CompiledModel['findings'][number];

export interface ReasonGroup {
  readonly opType: string;
  readonly device: Unit['device'];
  readonly units: readonly Unit[];
  /** The finding of the first unit; undefined for legal units that the partition leaves to the CPU. */
  readonly finding?: Finding;
  /** What the units have, each once, if it differs. */
  readonly measured: readonly string[];
  /** Why the partition leaves them to the CPU. */
  readonly demoted?: string;
}

/** In the order of the first unit of each. A unit is once in the group of each rule that it breaks; one that was demoted is in the group of that reason alone. */
export function groupReasons(units: readonly Unit[]): readonly ReasonGroup[] {
  const groups = new Map<string, { readonly first: Entry; readonly units: Unit[]; readonly measured: Set<string> }>();
  for (const entry of units.flatMap(listEntries)) {
    const key = keyOf(entry);
    const group = groups.get(key) ?? { first: entry, units: [], measured: new Set<string>() };
    // A unit has one finding of a rule per value that breaks it.
    if (group.units.at(-1) !== entry.unit) group.units.push(entry.unit);
    if (entry.finding !== undefined && entry.finding.measured !== '') group.measured.add(entry.finding.measured);
    groups.set(key, group);
  }
  return [...groups.values()].map(({ first: { unit, finding }, units: own, measured }) => ({
    opType: unit.opType,
    device: unit.device,
    units: own,
    measured: measured.size > 1 ? [...measured] : [],
    ...(finding === undefined ? {} : { finding }),
    ...(unit.demoted === undefined ? {} : { demoted: unit.demoted }),
  }));
}

/** One finding of a unit, or the unit itself where it has none. */
interface Entry {
  readonly unit: Unit;
  readonly finding?: Finding;
}

function listEntries(unit: Unit): readonly Entry[] {
  if (unit.demoted !== undefined || unit.findings.length === 0) return [{ unit }];
  return unit.findings.map(finding => ({ unit, finding }));
}

/** Without the measured value. A finding that has none says what it found in its message alone. */
function keyOf({ unit: { opType, device, demoted }, finding }: Entry): string {
  const message = finding?.measured === '' ? finding.message : undefined;
  return JSON.stringify([opType, device, demoted, finding?.rule, finding?.severity, finding?.limit, finding?.fixIts, message]);
}
