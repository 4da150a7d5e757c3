/** Which stamps of files prove nothing yet. */
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FileStat, isRacy, type Stamp, statPath } from '../../../../../src/engine/store/files/stamp.js';

it('a stamp is racy within 50 ms of the change, within two seconds where times are whole seconds, and before the change', () => {
  const stat = { kind: 'file', stamp: '' as Stamp, sizeBytes: 0, executable: false, modifiedMs: 0, changedMs: 3_000 } as const;
  const racy = (isCoarse: boolean) => [2_999, 3_000, 3_049, 3_051, 4_999, 5_001].map(taken => isRacy({ ...stat, isCoarse }, taken));
  expect(racy(false)).toEqual([true, true, true, false, false, false]);
  expect(racy(true)).toEqual([true, true, true, true, true, false]);
});

it('a fine clock is not taken for one of whole seconds in the first millisecond of a second', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tanren-stamp-'));
  const file = openSync(join(folder, 'file'), 'w');
  const stats: FileStat[] = [];
  // Long enough for the start of a second.
  for (const until = performance.now() + 1_050; performance.now() < until; ) {
    writeSync(file, 'x', 0);
    const stat = statPath(join(folder, 'file'));
    if (stat !== undefined) stats.push(stat);
  }
  closeSync(file);
  rmSync(folder, { recursive: true });
  expect(stats.filter(stat => stat.isCoarse)).toEqual([]);
});
