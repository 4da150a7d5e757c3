/** The program that a key is made of is the one that starts. */
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { resolveTool } from '../../../../src/engine/action/tools.js';
import { baseEnvironment } from '../../../../src/stage/tool-runner.js';

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'tanren-tools-')));
  for (const name of ['bin', 'far']) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'mytool'), '#!/bin/sh\n');
    chmodSync(join(folder, name, 'mytool'), 0o755);
  }
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('a relative folder in the PATH', () => {
  it.each(['bin', '.', '', '..'])('such as "%s" is not looked into, as it is another folder for each program', relative => {
    const before = process.cwd();
    process.chdir(folder);
    try {
      const path = [relative, join(folder, 'far')].join(delimiter);
      expect(resolveTool('mytool', folder, path)).toBe(join(folder, 'far/mytool'));
      expect(() => resolveTool('mytool', folder, relative)).toThrow(expect.objectContaining({ code: 'tool-missing' }));
    } finally {
      process.chdir(before);
    }
  });

  it('does not reach programs either', () => {
    const PATH = ['bin', '/usr/bin', '', '.', '/bin'].join(delimiter);
    expect(baseEnvironment({ PATH }, folder).PATH).toBe(['/usr/bin', '/bin'].join(delimiter));
  });
});
