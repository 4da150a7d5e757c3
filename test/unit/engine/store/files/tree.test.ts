/** The tree document of a folder covers all relevant content, and forged documents are rejected. */
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { digestBytes } from '../../../../../src/base/digest.js';
import { decodeTree, encodeTree, isInnerLink } from '../../../../../src/engine/store/files/tree.js';
import { createInputDigests } from '../../../../../src/engine/store/input-digests.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tanren-tree-'));
  mkdirSync(join(folder, 'all/deep'), { recursive: true });
  writeFileSync(join(folder, 'all/a.txt'), 'a');
  writeFileSync(join(folder, 'all/deep/b.txt'), 'b');
});
afterEach(() => rmSync(folder, { recursive: true }));

const digest = async (path = 'all') =>
  (
    await createInputDigests(
      { files: new Map() },
      { resolve: at => join(folder, at), findWritten: () => undefined, remember: () => undefined },
    ).digest(path)
  ).artifact.digest;

describe('the digest of a source folder', () => {
  it.each<[string, () => void]>([
    ['a changed file', () => writeFileSync(join(folder, 'all/a.txt'), 'x')],
    ['a renamed file', () => renameSync(join(folder, 'all/a.txt'), join(folder, 'all/c.txt'))],
    ['a new empty folder', () => mkdirSync(join(folder, 'all/empty'))],
    ['an executable bit', () => chmodSync(join(folder, 'all/a.txt'), 0o755)],
    ['a file less', () => rmSync(join(folder, 'all/deep/b.txt'))],
    ['a file of an unusual name', () => writeFileSync(join(folder, 'all/ünï 鍛錬\n.txt'), '')],
  ])('changes with %s', async (_name, change) => {
    const before = await digest();
    change();
    expect(await digest()).not.toBe(before);
  });

  it('is that of its content, wherever it lies', async () => {
    const before = await digest();
    renameSync(join(folder, 'all'), join(folder, 'elsewhere'));
    expect(await digest('elsewhere')).toBe(before);
  });

  it('follows links to their content, and refuses a cycle', async () => {
    writeFileSync(join(folder, 'outside.txt'), '1');
    symlinkSync('../outside.txt', join(folder, 'all/link'));
    const before = await digest();
    writeFileSync(join(folder, 'outside.txt'), '2');
    expect(await digest()).not.toBe(before);

    symlinkSync('..', join(folder, 'all/deep/up'));
    await expect(digest()).rejects.toMatchObject({ code: 'folder-cycle' });
  });

  it('is refused for a missing path and for other than files and folders', async () => {
    await expect(digest('missing')).rejects.toMatchObject({ code: 'input-missing' });
    symlinkSync('/dev/null', join(folder, 'device'));
    await expect(digest('device')).rejects.toMatchObject({ code: 'special-file' });
  });
});

describe('a tree document', () => {
  const file = { kind: 'file', digest: digestBytes('x'), sizeBytes: 1, executable: false } as const;

  it('reads back as it was written', () => {
    const entries = [
      { ...file, path: 'a' },
      { kind: 'folder', path: 'b/c' } as const,
      { kind: 'symlink', path: 'b/l', target: '../a' } as const,
    ];
    expect(decodeTree(encodeTree(entries))).toEqual(entries);
  });

  it.each([
    '../a',
    '/etc/passwd',
    'a/../../b',
    'a//b',
    '.',
    '',
    ...(process.platform === 'win32' ? ['a\\..\\b'] : []),
  ])('with the path %j is refused', path => {
    expect(decodeTree(encodeTree([{ ...file, path }]))).toBeUndefined();
  });

  it.each([
    ['a', '../x', false],
    ['a/b', '../x', true],
    ['a/b', '../../x', false],
    ['a', '/x', false],
    ['a', 'x/../../y', false],
  ])('with a link at %s to %s: allowed is %s', (path, target, allowed) => {
    expect(isInnerLink(path, target)).toBe(allowed);
    expect(decodeTree(encodeTree([{ kind: 'symlink', path, target }])) !== undefined).toBe(allowed);
  });

  it('that is damaged is refused', () => {
    for (const text of ['', '{', '[]', '{"format":2,"entries":[]}', '{"format":1,"entries":[{"kind":"file","path":"a"}]}']) {
      expect(decodeTree(text)).toBeUndefined();
    }
  });
});
