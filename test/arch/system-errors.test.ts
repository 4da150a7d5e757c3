/** Codes of system errors are read in one file, and the groups of codes are listed there. */
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findProject, readSources } from './import-graph.js';

const sources = readSources(findProject(dirname(fileURLToPath(import.meta.url))), ['src', 'stages']);
const HOME = 'src/base/system-error.ts';

/** Files that read the code of an error themselves: `isCodedError` tells our own errors from those of the system. */
const READERS = ['src/base/coded-error.ts', HOME];

it("an error's code is read by src/base/system-error.ts alone", () => {
  const readers = [...sources].filter(([, source]) => /'(code|syscall)' in /.test(source)).map(([path]) => path);
  expect(readers.sort()).toEqual(READERS);
});

it('groups of two and more system codes that several files name are declared in src/base/system-error.ts', () => {
  const pairs = [
    "'EACCES', 'EPERM'",
    "'EPERM', 'EACCES'",
    "'ENOENT', 'ENOTDIR'",
    "'EMFILE', 'ENFILE'",
    "'ENOSPC', 'EDQUOT'",
    "'EXDEV', 'EMLINK'",
  ];
  const places = [...sources].flatMap(([path, source]) => (pairs.some(pair => source.includes(pair)) ? [path] : []));
  expect(places).toEqual([HOME]);
});
