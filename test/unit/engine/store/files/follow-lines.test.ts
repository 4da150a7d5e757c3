/** Following a file of lines: only complete new lines, and all of another file. */
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { followLines, followLog } from '../../../../../src/engine/store/files/follow-lines.js';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tanren-lines-'));
  path = join(folder, 'log');
});
afterEach(() => rmSync(folder, { recursive: true }));

/** As an editor, or a compaction, replaces a file. */
function replace(text: string): void {
  writeFileSync(`${path}.tmp`, text);
  renameSync(`${path}.tmp`, path);
}

describe('the lines of a file', () => {
  it('are those since the last call, once they are complete', () => {
    const read = followLines(path);
    expect(read()).toEqual({ file: 'missing', lines: [] });
    writeFileSync(path, 'one\ntw');
    expect(read()).toEqual({ file: 'another', lines: ['one'] });
    appendFileSync(path, 'o, “gerüst”');
    expect(read()).toEqual({ file: 'same', lines: [] });
    appendFileSync(path, '\n\nthree\n');
    expect(read()).toEqual({ file: 'same', lines: ['two, “gerüst”', '', 'three'] });
    expect(read()).toEqual({ file: 'same', lines: [] });
  });

  it('are whole where a read ends inside one, also inside a character', () => {
    const long = 'é'.repeat(700_000);
    writeFileSync(path, `a\n${long}\nb\n`);
    expect(followLines(path)()).toEqual({ file: 'another', lines: ['a', long, 'b'] });
  });

  it.each<[string, () => void]>([
    ['has taken its place', () => replace('new\nlonger than the one before\n')],
    ['is shorter', () => writeFileSync(path, 'new\nlonger\n')],
    ['came after it was gone', () => renameSync(path, `${path}.old`)],
  ])('are all of them where another file %s', (_what, change) => {
    writeFileSync(path, 'old\nlonger than the next\n');
    const read = followLines(path);
    read();
    change();
    if (!existsSync(path)) {
      expect(read()).toEqual({ file: 'missing', lines: [] });
      replace('new\nlonger than the one before\n');
    }
    expect(read()).toMatchObject({ file: 'another', lines: ['new', expect.stringContaining('longer')] });
  });

  it('cannot be read from a folder, and are all read after it', () => {
    writeFileSync(path, 'one\n');
    const read = followLines(path);
    read();
    renameSync(path, `${path}.aside`);
    mkdirSync(path);
    expect(read).toThrow(expect.objectContaining({ code: 'EFTYPE' }));
    rmSync(path, { recursive: true });
    renameSync(`${path}.aside`, path);
    expect(read()).toEqual({ file: 'another', lines: ['one'] });
  });
});

describe('the records of a log', () => {
  it('are the lines after its header, also where that comes later', () => {
    const read = followLog(path, 'log 1');
    writeFileSync(path, '');
    expect(read().lines).toEqual([]);
    appendFileSync(path, 'log 1\none\n');
    expect(read().lines).toEqual(['one']);
    appendFileSync(path, 'two\n');
    expect(read()).toEqual({ file: 'same', lines: ['two'] });
  });

  it('are none of a log of another version', () => {
    writeFileSync(path, 'log 2\none\n');
    const read = followLog(path, 'log 1');
    expect(read()).toEqual({ file: 'another', lines: [] });
    appendFileSync(path, 'two\n');
    expect(read().lines).toEqual([]);
    replace('log 1\none\n');
    expect(read().lines).toEqual(['one']);
  });
});
