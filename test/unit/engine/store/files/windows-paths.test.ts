/** The rules for paths on Windows, tested on any system. Nothing else of Windows is tested. */
import { posix, win32 } from 'node:path';
import { isInside, slashed } from '../../../../../src/engine/action/code/describe-code.js';
import { isInnerLink, isInnerPath } from '../../../../../src/engine/store/files/tree.js';

describe('the path of an entry in a folder', () => {
  it.each(['a.txt', 'a/b.txt', 'a b/ö', '.hidden', '..a', 'console', 'com', 'nullable.txt'])('%j is inside on every system', path => {
    expect([isInnerPath(path, posix), isInnerPath(path, win32)]).toEqual([true, true]);
  });

  it.each(['', '/a', '../a', 'a/../../b', 'a//b', './a', 'a/'])('%j is inside on none', path => {
    expect([isInnerPath(path, posix), isInnerPath(path, win32)]).toEqual([false, false]);
  });

  it.each([
    '..\\a',
    'a\\b',
    '\\a',
    'C:\\a',
    'C:a',
    'a/C:b',
    'file:stream',
    'CON',
    'nul.txt',
    'a/Lpt1',
    'aux.',
    'a.',
    'a ',
    'a?',
    'a|b',
  ])('%j is a name elsewhere, and refused on Windows', path => {
    expect([isInnerPath(path, posix), isInnerPath(path, win32)]).toEqual([true, false]);
  });
});

describe('a link in a folder', () => {
  it.each([
    ['a/b', '../c', true, true],
    ['a/b', '../../c', false, false],
    ['a', '/c', false, false],
    ['a/b', '..\\..\\c', true, false],
    ['a', 'C:\\c', true, false],
    ['a', 'C:c', true, false],
    ['a', '\\\\server\\share', true, false],
  ])('%j to %j stays inside: %j, on Windows %j', (path, target, elsewhere, windows) => {
    expect([isInnerLink(path, target, posix), isInnerLink(path, target, win32)]).toEqual([elsewhere, windows]);
  });
});

describe('modules in the table of code digests', () => {
  it.each([
    ['C:\\app', 'C:\\app\\src\\a.js', true],
    ['C:\\app', 'c:\\APP\\src\\a.js', true],
    ['C:\\app', 'C:\\app\\..a\\b.js', true],
    ['C:\\app', 'C:\\application\\a.js', false],
    ['C:\\app', 'C:\\', false],
    ['C:\\app', 'D:\\app\\src\\a.js', false],
    ['\\\\server\\share\\app', '\\\\server\\share\\app\\a.js', true],
    ['\\\\server\\share\\app', '\\\\server\\other\\a.js', false],
  ])('%j has %j inside: %j', (folder, path, inside) => {
    expect(isInside(folder, path, win32)).toBe(inside);
  });

  it.each([
    ['/app', '/app/..a/b.js', true],
    ['/app', '/application/a.js', false],
    ['/app', '/', false],
  ])('elsewhere %j has %j inside: %j', (folder, path, inside) => {
    expect(isInside(folder, path, posix)).toBe(inside);
  });

  it('have slashes in their names on every system, and keep a backslash that is part of a name', () => {
    expect([slashed('src\\a.js', win32), slashed('src/a.js', win32), slashed('src\\a.js', posix)]).toEqual([
      'src/a.js',
      'src/a.js',
      'src\\a.js',
    ]);
  });
});
