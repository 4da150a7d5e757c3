/** Stamps of everything that was read, with the links on the way and the paths where nothing was. */
import { linkSync, mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { areUnchanged, type RecordedStamps } from '../../../../../src/engine/store/files/recorded-stamps.js';
import { isRacy, statLink } from '../../../../../src/engine/store/files/stamp.js';
import { createStampRecorder, type StampRecorder } from '../../../../../src/engine/store/files/stamp-recorder.js';

let folder = '';
const at = (name: string): string => join(folder, name);
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'tanren-stamps-')));
  for (const name of ['a', 'b', 'names']) mkdirSync(at(name));
  writeFileSync(at('a/file'), '1');
  linkSync(at('a/file'), at('b/file'));
  symlinkSync('a', at('middle'));
  symlinkSync('../middle', at('names/outer'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function stampsOf(read: (recorder: StampRecorder) => void): RecordedStamps {
  const recorder = createStampRecorder();
  read(recorder);
  return recorder.recorded().stamps;
}

it.each<[string, (recorder: StampRecorder) => unknown, () => void]>([
  ['a file that is written to', recorder => recorder.stat(at('a/file')), () => writeFileSync(at('a/file'), '22')],
  ['a file that appears', recorder => recorder.stat(at('a/none')), () => writeFileSync(at('a/none'), '')],
  ['a folder that appears where nothing was', recorder => recorder.stat(at('a/none')), () => mkdirSync(at('a/none'))],
  ['a name that is added to a folder', recorder => recorder.names(at('names')), () => writeFileSync(at('names/new'), '')],
  ['a file that is added to a tree', recorder => recorder.tree(at('a')), () => writeFileSync(at('a/new'), '')],
  [
    'a link above the file that leads to a hard link of it',
    recorder => recorder.realPath(at('middle/file')),
    () => {
      rmSync(at('middle'));
      symlinkSync('b', at('middle'));
    },
  ],
  [
    'a link that such a link leads to',
    recorder => recorder.realPath(at('names/outer/file')),
    () => {
      rmSync(at('middle'));
      symlinkSync('b', at('middle'));
    },
  ],
  [
    'a folder above the file that becomes a link to where it was moved',
    recorder => recorder.realPath(at('a/file')),
    () => {
      renameSync(at('a'), at('moved'));
      symlinkSync('moved', at('a'));
    },
  ],
])('shows %s', (_what, read, change) => {
  const stamps = stampsOf(read);
  expect(areUnchanged(stamps, '')).toBe(true);

  change();

  expect(areUnchanged(stamps, '')).toBe(false);
});

it('proves nothing about a file that was written a moment ago', () => {
  const recorder = createStampRecorder();
  writeFileSync(at('a/file'), '3');
  recorder.stat(at('a/file'));

  expect(recorder.recorded().proof).toBe('racy');
});

it('proves nothing about a link that was made a moment ago', () => {
  const recorder = createStampRecorder();
  symlinkSync('a', at('new'));
  recorder.realPath(at('new/file'));

  expect(recorder.recorded().proof).toBe('racy');
});

it('proves files that were settled when it was created', async () => {
  for (let look = statLink(at('names/outer')); look !== undefined && isRacy(look, Date.now()); )
    await new Promise(resolve => setTimeout(resolve, 20));
  const recorder = createStampRecorder();
  recorder.realPath(at('names/outer/file'));
  recorder.stat(at('a/file'));

  expect(recorder.recorded().proof).toBe('settled');
});
