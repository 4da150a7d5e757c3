/** Bounds of JSON from untrusted files, within which functions that call themselves per level are safe. */
import type { Json } from '../json.js';

/** @returns what is wrong with the value: nested deeper than `mostLevels`, or a number that JSON.parse turned into an infinity. */
export function findUnbounded(value: Json, mostLevels: number): string | undefined {
  let level: readonly Json[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > mostLevels) return `it is nested more than ${mostLevels} levels deep`;
    const next: Json[] = [];
    for (const one of level) {
      if (typeof one === 'number' && !Number.isFinite(one)) return 'it holds a number that is too large';
      if (typeof one === 'object' && one !== null) for (const member of Object.values(one)) next.push(member);
    }
    level = next;
  }
  return undefined;
}
