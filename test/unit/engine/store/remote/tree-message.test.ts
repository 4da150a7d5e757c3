/** Trees of a remote cache: a folder comes back as it was, and a hostile tree is refused. */
import { digestBytes } from '../../../../../src/base/digest.js';
import type { TreeEntry } from '../../../../../src/engine/store/files/tree.js';
import { decodeTreeMessage, encodeTreeMessage } from '../../../../../src/engine/store/remote/tree-message.js';
import { DIRECTORY, type Directory, TREE } from '../../../../../src/remote/wire/reapi.js';
import { failureOf } from '../../../../support/error-code.js';

const DIGEST = digestBytes('content');
const EMPTY: Directory = { files: [], directories: [], symlinks: [] };
const file = (name: string): Directory['files'][number] => ({ name, digest: { hash: DIGEST, sizeBytes: 7 }, isExecutable: false });
const files = (...names: readonly string[]): Directory => ({ ...EMPTY, files: names.map(file) });

function folder(name: string, child: Directory): Directory['directories'][number] {
  const bytes = DIRECTORY.encode(child);
  return { name, digest: { hash: digestBytes(bytes), sizeBytes: bytes.length } };
}

it('gives a folder back as it was, with empty folders, links and executable files', () => {
  const entries: readonly TreeEntry[] = [
    { kind: 'file', path: 'a/b/run.sh', digest: DIGEST, sizeBytes: 7, executable: true },
    { kind: 'symlink', path: 'a/link', target: 'b/run.sh' },
    { kind: 'file', path: 'a.txt', digest: DIGEST, sizeBytes: 7, executable: false },
    { kind: 'folder', path: 'empty' },
  ];
  expect(decodeTreeMessage(encodeTreeMessage(entries).bytes)).toEqual([...entries].sort((a, b) => (a.path < b.path ? -1 : 1)));
});

it('gives the empty folder the digest of no bytes, as the protocol defines it', () => {
  expect(encodeTreeMessage([]).root).toEqual({ hash: digestBytes(''), sizeBytes: 0 });
});

/** 2⁶⁰ entries in 61 messages: each folder has the same next one twice. */
function doubling(levels: number): { readonly root: Directory; readonly children: readonly Directory[] } {
  const children: Directory[] = [files('leaf')];
  for (let level = 0; level < levels; level++) {
    const [next = EMPTY] = children;
    children.unshift({ ...EMPTY, directories: [folder('a', next), folder('b', next)] });
  }
  const [root = EMPTY, ...rest] = children;
  return { root, children: rest };
}

function nested(levels: number, name: string): { readonly root: Directory; readonly children: readonly Directory[] } {
  const children: Directory[] = [files('leaf')];
  for (let level = 0; level < levels; level++) children.unshift({ ...EMPTY, directories: [folder(name, children[0] ?? EMPTY)] });
  const [root = EMPTY, ...rest] = children;
  return { root, children: rest };
}

it.each<[string, { readonly root: Directory | undefined; readonly children: readonly Directory[] }, RegExp]>([
  ['no root', { root: undefined, children: [] }, /no root/],
  ['the name ".."', { root: files('..'), children: [] }, /the name "\.\."/],
  ['the name "."', { root: files('.'), children: [] }, /the name "\."/],
  ['an empty name', { root: files(''), children: [] }, /the name ""/],
  ['an absolute name', { root: files('/etc/passwd'), children: [] }, /the name "\/etc\/passwd"/],
  ['a name with a slash', { root: files('a/../../b'), children: [] }, /the name/],
  ['a name with a zero byte', { root: files('a\0'), children: [] }, /the name/],
  ['a name twice', { root: files('a', 'a'), children: [] }, /twice/],
  ['a name twice, as a file and as a link', { root: { ...files('a'), symlinks: [{ name: 'a', target: 'b' }] }, children: [] }, /twice/],
  ['names out of order', { root: files('b', 'a'), children: [] }, /not in order/],
  ['a folder that is absent', { root: { ...EMPTY, directories: [folder('a', files('x'))] }, children: [] }, /not in it/],
  ['a folder with other content', { root: { ...EMPTY, directories: [folder('a', files('x'))] }, children: [files('y')] }, /other content/],
  ['a link that leaves it', { root: { ...EMPTY, symlinks: [{ name: 'up', target: '../../etc' }] }, children: [] }, /leave it/],
  ['an absolute link', { root: { ...EMPTY, symlinks: [{ name: 'up', target: '/etc' }] }, children: [] }, /leave it/],
  [
    'a file without a digest',
    { root: { ...EMPTY, files: [{ ...file('a'), digest: { hash: 'x', sizeBytes: 1 } }] }, children: [] },
    /no digest/,
  ],
  ['folders that double', doubling(60), /more than 1000000 entries/],
  ['too many levels', nested(300, 'a'), /more than 256 levels/],
  ['a path that is too long', nested(40, 'n'.repeat(200)), /more than 4096 characters/],
])('refuses a tree with %s', async (_what, tree, reason) => {
  const { code, message } = await failureOf(() => decodeTreeMessage(TREE.encode(tree)));
  expect([code, message]).toEqual(['remote-damaged', expect.stringMatching(reason)]);
});
