/** The state log survives damage to its file. */
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Digest } from '../../../../src/base/digest.js';
import { digestBytes } from '../../../../src/base/digest.js';
import type { AcceptedStage } from '../../../../src/engine/model/accepted-stage.js';
import type { ActionKey } from '../../../../src/engine/model/action-key.js';
import type { RecordedStamps } from '../../../../src/engine/store/files/recorded-stamps.js';
import type { Stamp } from '../../../../src/engine/store/files/stamp.js';
import type { LoadableModules } from '../../../../src/engine/store/state.js';
import { followAccepted, loadState, openStateWriter, parseState } from '../../../../src/engine/store/state-log.js';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tanren-state-'));
  path = join(folder, 'pipeline.log');
});
afterEach(() => rmSync(folder, { recursive: true }));

const STAMPS: RecordedStamps = {
  itself: ['/link', 'stamp 1'],
  followed: ['/module', 'stamp'],
  places: ['/module', '/elsewhere/module'],
  trees: [{ path: '/data', links: 'follow', stamps: 'all' }],
  names: [{ path: '/folder', names: ['a', 'b'] }],
};

const MODULES: LoadableModules = { paths: ['/module'], packages: ['/node_modules/a'], imports: 'named' };

describe('the state log', () => {
  it('returns the last written entry of each name', () => {
    write(path, 3);
    const { state, damagedLines } = loadState(path);

    expect(damagedLines).toBe(0);
    expect([...state.stages.keys()]).toEqual(['stage0', 'stage1', 'stage2']);
    expect(state.stages.get('stage1')).toEqual(accepted(1));
    expect(state.files.get('file1')).toEqual({ stamp: 'stamp1', digest: digestBytes('1') });
    expect(state.code.get('/module')).toEqual({ stamps: STAMPS, modules: MODULES, digest: digestBytes('code') });
  });

  it('truncated at any byte gives only written entries, and can be written again', () => {
    write(path, 3);
    const whole = readFileSync(path);
    for (let length = 0; length < whole.length; length++) {
      const loaded = parseState(whole.toString('utf8', 0, length));
      // A killed build leaves the file like this, so there is no warning.
      expect(loaded.damagedLines).toBe(0);
      for (const [id, stage] of loaded.state.stages) expect(stage).toEqual(accepted(Number(id.slice(5))));
      if (length % 97 !== 0) continue;
      writeFileSync(path, whole.subarray(0, length));
      const writer = openStateWriter(path, loaded);
      writer.acceptStage('stage9', accepted(9));
      writer.flush();
      const again = loadState(path);
      expect(again.damagedLines).toBe(0);
      expect(again.state.stages.get('stage9')).toEqual(accepted(9));
    }
  });

  it('followed has the accepted results of a whole read after each write, also after it was compacted, and none of what cannot be read', () => {
    const read = followAccepted(path);
    expect(read()).toEqual(new Map());
    let first: unknown;
    for (let round = 0; round < 90; round++) {
      write(path, 3);
      const now = read();
      first ??= now;
      expect(now).toEqual(loadState(path).state.stages);
    }
    expect(loadState(path).lines).toBeLessThan(90 * 6);
    expect(read()).toBe(read());
    // What was given stays as it was.
    write(path, 4);
    expect([...(first as ReadonlyMap<string, unknown>).keys()]).toHaveLength(3);
    expect(read().size).toBe(4);
    rmSync(path);
    expect(read()).toEqual(new Map());
    mkdirSync(path);
    expect(read()).toEqual(new Map());
  });

  it('with a changed byte leaves that line out', () => {
    write(path, 3);
    const bytes = readFileSync(path);
    bytes[bytes.indexOf('stage1') + 2] = 88;
    writeFileSync(path, bytes);
    const { state, damagedLines } = loadState(path);

    expect(damagedLines).toBe(1);
    expect([...state.stages.keys()]).toEqual(['stage0', 'stage2']);
  });

  it('with any byte changed gives only written entries', () => {
    write(path, 3);
    const whole = readFileSync(path);
    for (let at = 0; at < whole.length; at++) {
      const bytes = Buffer.from(whole);
      bytes[at] = (bytes[at] ?? 0) ^ ([1, 0x80, 0xff][at % 3] ?? 0);
      const loaded = parseState(bytes.toString());
      for (const [id, stage] of loaded.state.stages) expect(stage).toEqual(accepted(Number(id.slice(5))));
      expect(loaded.damagedLines + (loaded.end === 'torn' ? 1 : 0)).toBeGreaterThan(0);
    }
  });

  it('knows the stages whose artifacts a killed build was replacing, also after it was compacted', () => {
    write(path, 3);
    openStateWriter(path, loadState(path)).startReplacing('stage1');
    expect([...loadState(path).state.replacing]).toEqual(['stage1']);
    for (let round = 0; round < 300; round++) {
      const writer = openStateWriter(path, loadState(path));
      writer.acceptStage('stage0', accepted(round));
      writer.flush();
    }
    expect([...loadState(path).state.replacing]).toEqual(['stage1']);
    const writer = openStateWriter(path, loadState(path));
    writer.acceptStage('stage1', accepted(7));
    writer.flush();
    expect(loadState(path).state.replacing.size).toBe(0);
  });

  it('does not grow for ever', () => {
    for (let round = 0; round < 600; round++) {
      const writer = openStateWriter(path, loadState(path));
      writer.acceptStage('stage', accepted(round));
      writer.flush();
    }
    expect(readFileSync(path, 'utf8').split('\n').length).toBeLessThan(300);
    expect(loadState(path).state.stages.get('stage')).toEqual(accepted(599));
  });

  it('treats garbage as empty', () => {
    writeFileSync(path, 'tanren-state 1\n');
    appendFileSync(path, Buffer.from([0, 255, 10, 13, 10]));
    expect(loadState(path).state.stages.size).toBe(0);
  });
});

function write(at: string, stages: number): void {
  const writer = openStateWriter(at, loadState(at));
  writer.stampCode('/module', { stamps: STAMPS, modules: MODULES, digest: digestBytes('code') });
  writer.flush();
  for (let i = 0; i < stages; i++) {
    writer.stampFile(`file${i}`, { stamp: `stamp${i}` as Stamp, digest: digestBytes(String(i)) });
    writer.acceptStage(`stage${i}`, accepted(i));
    writer.flush();
  }
}

function accepted(i: number): AcceptedStage {
  const digest: Digest = digestBytes(`out${i}`);
  return {
    key: digestBytes(`key${i}`) as string as ActionKey,
    outputs: { out: { kind: 'file', digest, sizeBytes: i, executable: false, signature: `s${i}` } },
    quickKey: `q${i}`,
    folderStamp: `f${i}`,
    metrics: { value: i },
    previousMetrics: undefined,
    durationMs: i,
  };
}
