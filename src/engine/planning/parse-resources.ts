/** Parsing of a stage's `resources`: the units that it takes of each pool. */
import { findClosest } from '../../base/text/did-you-mean.js';
import { formatBytes } from '../../base/text/format.js';
import { findMember, type Located, membersOf, toJson } from '../config/located.js';
import { parseSize } from '../config/scalars.js';
import type { DiagnosticList } from '../model/diagnostic.js';
import type { Instance } from './expand.js';

/** Pools that every machine has without a declaration. */
const UNDECLARED = ['cpu', 'memory'];

/** Returns a number of units; for memory, a number of bytes. */
export function unitsOf(located: Located): number {
  const value = toJson(located);
  return typeof value === 'string' ? (parseSize(value) ?? 0) : Number(value);
}

export function parseResources(
  instance: Instance,
  pools: Readonly<Record<string, number>>,
  diagnostics: DiagnosticList,
): Readonly<Record<string, number>> {
  const resources: Record<string, number> = { cpu: 1 };
  for (const [pool, member] of membersOf(findMember(instance.definition, 'resources'))) {
    const units = unitsOf(member.value);
    const capacity = pools[pool];
    const describe = (count: number): string => (pool === 'memory' ? formatBytes(count) : String(count));
    if (!UNDECLARED.includes(pool) && capacity === undefined) {
      const closest = findClosest(pool, [...UNDECLARED, ...Object.keys(pools)]);
      diagnostics.error(
        'unknown-pool',
        member.keySpan,
        `unknown pool "${pool}"`,
        closest === undefined ? 'declare it under pools' : `did you mean "${closest}"?`,
      );
    } else if (capacity !== undefined && units > capacity) {
      diagnostics.error(
        'pool-too-small',
        member.value.span,
        `stage "${instance.id}" takes ${describe(units)} of pool "${pool}", which has ${describe(capacity)}`,
      );
    } else resources[pool] = units;
  }
  return resources;
}
