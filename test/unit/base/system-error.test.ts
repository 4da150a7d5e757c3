/** Tests of the codes of errors, with errors that Node itself throws. */
import { linkSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CodedError } from '../../../src/base/coded-error.js';
import { codeOrText, hasCode, isMissing, isSystemCallError, MISSING, systemCode } from '../../../src/base/system-error.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'system-error-'));
  writeFileSync(join(folder, 'file'), '');
  symlinkSync('loop', join(folder, 'loop'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function thrownBy(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    return error;
  }
  throw new Error('the call did not fail');
}

describe('the code of an error', () => {
  it.each([
    ['ENOENT', () => readFileSync(join(folder, 'nothing'))],
    ['ENOTDIR', () => readFileSync(join(folder, 'file', 'below'))],
    ['ELOOP', () => readFileSync(join(folder, 'loop'))],
    ['ENOTDIR', () => readdirSync(join(folder, 'file'))],
    ['EEXIST', () => linkSync(join(folder, 'file'), join(folder, 'file'))],
  ])('%s is read from the error of the failed call', (code, call) => {
    const error = thrownBy(call);
    expect([systemCode(error), hasCode(error, 'EIO', code), hasCode(error, 'EIO'), isSystemCallError(error), codeOrText(error)]).toEqual([
      code,
      true,
      false,
      true,
      code,
    ]);
  });

  it('a missing file, a file in the place of a folder and a link to itself count as missing; MISSING leaves the link out', () => {
    const errors = ['nothing', join('file', 'below'), 'loop'].map(name => thrownBy(() => readFileSync(join(folder, name))));
    expect(errors.map(isMissing)).toEqual([true, true, true]);
    expect(errors.map(error => hasCode(error, ...MISSING))).toEqual([true, true, false]);
  });

  it.each([
    ['an error without a code', new Error('text'), undefined, 'Error: text'],
    ['an error with a number as its code', Object.assign(new Error('text'), { code: 7 }), undefined, 'Error: text'],
    ['a thrown object', { code: 'ENOENT' }, undefined, '[object Object]'],
    ['undefined', undefined, undefined, 'undefined'],
    ["one of Tanren's errors", new CodedError('not-a-file', 'text'), 'not-a-file', 'not-a-file'],
  ])('%s comes from no system call', (_, error, code, text) => {
    expect([systemCode(error), codeOrText(error), isSystemCallError(error), isMissing(error)]).toEqual([code, text, false, false]);
  });
});
