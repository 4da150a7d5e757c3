/** The work of the units of a compile report. */
import type { ModelReport } from '../report/compile-report.js';
import type { PlacedWork } from './unit-time.js';

/** The units of a report, as estimates count them; undefined for a report of an earlier version. */
export function findPlacedWork({ units }: Pick<ModelReport, 'units'>): readonly PlacedWork[] | undefined {
  const placed = units.flatMap(({ macs, weightBytes, inputBytes, outputBytes, work, device, edge }): readonly PlacedWork[] =>
    work === undefined ? [] : [{ work: { macs, weightBytes, inputBytes, outputBytes, ...work }, where: edge ? 'edge' : device }],
  );
  return placed.length === units.length ? placed : undefined;
}
