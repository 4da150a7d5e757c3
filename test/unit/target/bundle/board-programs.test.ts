/** The Python programs of a bundle: all are listed, and Python can parse them. */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readBoardPrograms } from '../../../../src/target/bundle/board-programs.js';
import { PROJECT } from '../../../support/shapes-project.js';

const FOLDER = join(PROJECT, 'src/target/bundle/board');

describe('the programs for the board', () => {
  it('are all Python files of their folder, sorted', async () => {
    const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.py'));
    expect((await readBoardPrograms()).map(({ name }) => name)).toEqual(files.sort());
  });

  it('read the files of the project', async () => {
    const [detector] = await readBoardPrograms();
    expect(Buffer.from(detector?.bytes ?? []).toString()).toMatch(/^#!\/usr\/bin\/env python3\n"""Runs the whole detector/);
  });

  const python = spawnSync('python3', ['--version']).status === 0;
  (python ? it : it.skip)('are Python 3.10 code', async () => {
    for (const { name, bytes } of await readBoardPrograms()) {
      const check = 'import ast, sys; ast.parse(sys.stdin.read(), feature_version=(3, 10))';
      expect([name, spawnSync('python3', ['-c', check], { input: bytes, encoding: 'utf8' }).stderr]).toEqual([name, '']);
    }
  });
});
