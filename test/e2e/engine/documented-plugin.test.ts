/** The plugin of docs/writing-a-stage.md works as written there. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { DIST } from '../../support/world.js';

const PROJECT = dirname(DIST);
const page = readFileSync(join(PROJECT, 'docs/writing-a-stage.md'), 'utf8');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tanren-documented-'));
  mkdirSync(join(folder, 'plugins'));
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(PROJECT, join(folder, 'node_modules/tanren'), 'junction');
  writeFileSync(join(folder, 'pipeline.yaml'), blockOf('yaml'));
  writeFileSync(join(folder, 'plugins/word-count.js'), blockOf('js'));
  writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
  writeFileSync(join(folder, 'notes.txt'), 'the iron is hot\n\nthe hammer strikes the iron');
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('the documented plugin', () => {
  it('builds, is up to date afterwards, and recomputes one paragraph for one edit', async () => {
    await tanren('build');
    expect(JSON.parse(readFileSync(join(folder, 'artifacts/words/counts.json'), 'utf8'))).toEqual({ hammer: 1, iron: 2, strikes: 1 });
    expect(JSON.parse(readFileSync(join(folder, 'artifacts/words/metrics.json'), 'utf8'))).toEqual({ distinct: 3 });
    expect(await tanren('build')).toMatch(/nothing to do/);

    writeFileSync(join(folder, 'notes.txt'), 'the iron is cold\n\nthe hammer strikes the iron');
    await tanren('build');
    expect(JSON.parse(readFileSync(join(folder, 'artifacts/words/counts.json'), 'utf8'))).toMatchObject({ cold: 1, iron: 2 });
  });

  it('fails with its own code if there is nothing to count', async () => {
    writeFileSync(join(folder, 'notes.txt'), 'a');
    await expect(tanren('build')).rejects.toMatchObject({ code: 1, stdout: expect.stringContaining('no word has 4 letters') });
  });
});

async function tanren(...args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [join(DIST, 'bin/tanren.js'), ...args], { cwd: folder });
  return stdout + stderr;
}

function blockOf(language: string): string {
  const block = page.split(`\`\`\`${language}\n`)[1]?.split('\n```')[0];
  if (block === undefined) throw new Error(`the page has no ${language} block`);
  return block;
}
