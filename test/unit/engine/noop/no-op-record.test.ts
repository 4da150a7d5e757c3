/** The no-op record in its file: read as it was written, and not at all if anything happened to it. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { encodeNoOpRecord, type NoOpRecord, readNoOpRecord } from '../../../../src/engine/noop/no-op-record.js';
import { NO_STAMPS } from '../../../../src/engine/store/files/recorded-stamps.js';
import { givenFolder } from '../../../support/run-stage.js';

const folder = givenFolder('no-op-record');

/** Names with characters of two and more bytes, and of two UTF-16 units. */
const RECORD: NoOpRecord = {
  request: 'a request',
  programs: [['sh', '/usr/bin/sh']],
  environment: [['NODE_OPTIONS', null]],
  platform: null,
  host: null,
  stamps: { ...NO_STAMPS, itself: ['artifacts/鍛錬/é', '1:2:3:4:-', 'artifacts/\n/😀', '5:6:7:8:x'] },
  report: { pipeline: 'pipeline', stages: 2, gates: [] },
};
const WHOLE = Buffer.from(encodeNoOpRecord(RECORD));

function read(bytes: Uint8Array): NoOpRecord | undefined {
  writeFileSync(join(folder.path, 'record'), bytes);
  return readNoOpRecord(join(folder.path, 'record'));
}

it('is read as it was written', () => {
  expect(read(WHOLE)).toEqual(RECORD);
  expect(readNoOpRecord(join(folder.path, 'missing'))).toBeUndefined();
  expect(readNoOpRecord(folder.path)).toBeUndefined();
});

it('is not used if it is cut at any byte', () => {
  for (let length = 0; length < WHOLE.length; length++) expect(read(WHOLE.subarray(0, length))).toBeUndefined();
});

it('is not used if any bit is another', () => {
  for (let at = 0; at < WHOLE.length; at++) {
    const changed = Buffer.from(WHOLE);
    changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
    expect(read(changed)).toBeUndefined();
  }
});

it('is not used if a stretch of it is overwritten, removed, or more bytes follow', () => {
  const stretch = fc.tuple(
    fc.nat(WHOLE.length - 1),
    fc.uint8Array({ minLength: 1, maxLength: 60 }),
    fc.constantFrom('over', 'out', 'after'),
  );
  fc.assert(
    fc.property(stretch, ([at, bytes, how]) => {
      const rest = how === 'after' ? WHOLE.subarray(WHOLE.length) : WHOLE.subarray(at + bytes.length);
      const start = how === 'after' ? WHOLE : WHOLE.subarray(0, at);
      const changed = Buffer.concat([start, how === 'out' ? Buffer.alloc(0) : bytes, rest]);
      return changed.equals(WHOLE) || read(changed) === undefined;
    }),
  );
});
