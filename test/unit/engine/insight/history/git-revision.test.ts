/** The checked-out commit in every form in which Git stores it. The repositories are written by hand; test/e2e/cli/records.test.ts uses Git itself. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { findRevision } from '../../../../../src/engine/insight/history/git-revision.js';

const COMMIT = '0123456789'.repeat(4);
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tanren-git-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

describe('the revision', () => {
  it.each([
    ['a branch', { '.git/HEAD': 'ref: refs/heads/topic/one\n', '.git/refs/heads/topic/one': `${COMMIT}\n` }, 'topic/one'],
    ['no branch', { '.git/HEAD': `${COMMIT}\n` }, undefined],
    [
      'a packed reference',
      {
        '.git/HEAD': 'ref: refs/heads/main\n',
        '.git/packed-refs': `# pack-refs with: peeled\n${'b'.repeat(40)} refs/heads/not/main\n${COMMIT} refs/heads/main\n`,
      },
      'main',
    ],
    [
      'a worktree',
      {
        '.git': 'gitdir: repository/.git/worktrees/w\n',
        'repository/.git/worktrees/w/HEAD': 'ref: refs/heads/w\n',
        'repository/.git/worktrees/w/commondir': '../..\n',
        'repository/.git/refs/heads/w': `${COMMIT}\n`,
      },
      'w',
    ],
  ] as const)('is found on %s, from a folder below too', (_what, files, branch) => {
    write(files);
    mkdirSync(join(folder, 'deep/project'), { recursive: true });
    const expected = branch === undefined ? { commit: COMMIT } : { commit: COMMIT, branch };
    expect(findRevision(folder)).toEqual(expected);
    expect(findRevision(join(folder, 'deep/project'))).toEqual(expected);
  });

  it.each([
    ['a branch without commits', { '.git/HEAD': 'ref: refs/heads/main\n' }],
    ['a HEAD that is none', { '.git/HEAD': 'something else' }],
    ['a reference out of the folder', { '.git/HEAD': 'ref: refs/../../secret\n', secret: `${COMMIT}\n` }],
    ['a .git that leads nowhere', { '.git': 'gitdir: /dev/null/x\n' }],
    ['references in a circle', { '.git/HEAD': 'ref: refs/heads/a\n', '.git/refs/heads/a': 'ref: refs/heads/a\n' }],
    ['a reftable', { '.git/HEAD': 'ref: refs/heads/.invalid\n', '.git/reftable/tables.list': '' }],
  ])('is not known of %s', (_what, files) => {
    write(files as Readonly<Record<string, string>>);
    expect(findRevision(folder)).toBeUndefined();
  });
});
