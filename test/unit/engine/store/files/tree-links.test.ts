/** Links that lead out of a folder are found, and links that stay inside are allowed. */
import { findEscape } from '../../../../../src/engine/store/files/tree-links.js';

const link = (path: string, target: string) => ({ kind: 'symlink', path, target }) as const;
const file = (path: string) => ({ kind: 'file', path }) as const;
const folder = (path: string) => ({ kind: 'folder', path }) as const;

describe('findEscape', () => {
  it.each([
    ['a link to the parent', [link('a', '..')], 'a'],
    ['an absolute link', [link('a', '/etc')], 'a'],
    ['two links that lead out together', [link('a/b', '..'), link('c', 'a/b/..')], 'c'],
    ['a link by way of a longer chain', [link('a/b', '..'), link('d/e', '../a/b'), link('f', 'd/e/..')], 'f'],
    ['a file behind a link', [link('a', 'b'), file('a/x'), folder('b')], 'a/x'],
    ['a link behind a link', [link('a', 'b'), link('a/x', 'y')], 'a/x'],
    ['a folder deep behind a link', [link('a/b', 'c'), folder('a/b/c/d')], 'a/b/c/d'],
  ])('finds %s', (_name, entries, path) => {
    expect(findEscape(entries)).toBe(path);
  });

  it.each([
    ['no links', [file('a'), folder('b')]],
    ['a link beside', [link('a', 'b'), file('b')]],
    ['a link up and down again', [link('a/b', '../c/d'), file('c/d')]],
    ['a link to the folder itself', [link('a/b', '..')]],
    ['a link to nothing', [link('a', 'nowhere/at/all')]],
    ['links that go round', [link('a', 'b'), link('b', 'a')]],
    ['a name that begins like a link', [link('a', 'b'), file('ab/x')]],
  ])('passes %s', (_name, entries) => {
    expect(findEscape(entries)).toBeUndefined();
  });
});
