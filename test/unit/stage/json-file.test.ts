/** JSON files of stages: written, read, and refused. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readJsonFile, writeJsonFile } from '../../../src/stage/json-file.js';
import { givenFolder } from '../../support/run-stage.js';

const folder = givenFolder('json-file');

describe('JSON files', () => {
  it('come back as they were written, keys in their order', async () => {
    const path = join(folder.path, 'a.json');
    await writeJsonFile(path, { b: [1, { c: null }], a: 'ü' });
    expect(await readJsonFile(path)).toEqual({ b: [1, { c: null }], a: 'ü' });
    expect((await readFile(path, 'utf8')).indexOf('"b"')).toBeLessThan((await readFile(path, 'utf8')).indexOf('"a"'));
  });

  it('that are no JSON are named with the reason', async () => {
    const path = join(folder.path, 'broken.json');
    await writeFile(path, '{"a": 1');
    await expect(readJsonFile(path)).rejects.toMatchObject({
      code: 'json-malformed',
      message: expect.stringMatching(/^broken\.json is not JSON: /),
      help: expect.stringContaining('connect the artifact'),
    });
  });

  it('that are missing are named', async () => {
    await expect(readJsonFile(join(folder.path, 'no.json'))).rejects.toMatchObject({
      code: 'json-unreadable',
      message: 'no.json cannot be read: ENOENT',
    });
  });
});
