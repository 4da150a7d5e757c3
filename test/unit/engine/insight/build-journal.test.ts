/** The build journal: what a build writes, another process reads while it grows; damage and replacement are noticed. */
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keepJournal } from '../../../../src/engine/insight/live/build-journal.js';
import { followJournal } from '../../../../src/engine/insight/live/follow-journal.js';
import type { BuildEvent } from '../../../../src/engine/model/events.js';
import type { StageId } from '../../../../src/engine/model/plan.js';
import type { EnginePorts } from '../../../../src/engine/model/ports.js';
import { advanceBuild } from '../../../../src/web/project/running-build.js';

let folder: string;
let path: string;
let emitted: BuildEvent[];
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'tanren-journal-')));
  path = join(folder, 'state/pipeline.live');
  emitted = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const shout = 'shout' as StageId;
const ports = (): EnginePorts => ({
  installRoot: '',
  environment: {},
  platformClass: { guard: () => '', compute: async () => '' },
  emit: event => emitted.push(event),
  nowMs: () => 5_000,
  signal: new AbortController().signal,
});

const STARTED: BuildEvent = { kind: 'stage-started', stage: shout, reasons: ['never built'], attempt: 1 };

describe('the journal of a build', () => {
  it('tells which cache a result came from', () => {
    const journal = keepJournal(ports());
    const reader = followJournal(path);
    journal.open(path);
    journal.ports.emit({ kind: 'outcome', stage: shout, outcome: { kind: 'restored', sizeBytes: 1, from: 'remote' } });
    journal.ports.emit({ kind: 'outcome', stage: 'local' as StageId, outcome: { kind: 'restored', sizeBytes: 1 } });
    const build = advanceBuild(undefined, reader.read().entries);
    expect(build?.stages.shout).toMatchObject({ state: 'restored', from: 'remote' });
    expect(build?.stages.local).not.toHaveProperty('from');
    journal.close('built');
  });

  it('is read while it grows, and gives the state of the build', () => {
    const journal = keepJournal(ports());
    const reader = followJournal(path);
    expect(reader.read()).toEqual({ restarted: false, entries: [] });
    journal.open(path);
    journal.ports.emit({
      kind: 'outlook',
      outlook: { tasks: [{ stage: 'shout', dependsOn: [], units: {}, expectedMs: 70 }], capacity: {} },
    });
    journal.ports.emit(STARTED);
    const first = reader.read();
    expect(first.restarted).toBe(true);
    const running = advanceBuild(undefined, first.entries);
    expect(running).toMatchObject({ state: 'running', pid: process.pid, pending: [{ stage: 'shout', expectedMs: 70 }], startedMs: 5_000 });
    expect(running?.stages.shout).toEqual({ state: 'running', startedMs: 5_000, reasons: ['never built'], attempt: 1 });

    journal.ports.emit({ kind: 'outcome', stage: shout, outcome: { kind: 'executed', durationMs: 12 } });
    journal.close('built');
    const second = reader.read();
    expect(second.restarted).toBe(false);
    const ended = advanceBuild(running, second.entries);
    expect(ended).toMatchObject({ state: 'ended', conclusion: 'built' });
    expect(ended?.stages.shout).toMatchObject({ state: 'executed', durationMs: 12, endedMs: 5_000 });
    expect(reader.read().entries).toEqual([]);
  });

  it('that replaces another is a restart with its first entry, also for a reader that saw it while it was empty', () => {
    const reader = followJournal(path);
    const former = keepJournal(ports());
    former.open(path);
    former.ports.emit(STARTED);
    former.close('built');
    const ended = advanceBuild(undefined, reader.read().entries);
    expect(ended).toMatchObject({ state: 'ended', conclusion: 'built' });

    const journal = keepJournal(ports());
    journal.open(path);
    for (const _ of [1, 2]) expect(reader.read()).toEqual({ restarted: false, entries: [] });
    journal.ports.emit(STARTED);
    const { restarted, entries } = reader.read();
    expect(restarted).toBe(true);
    expect(advanceBuild(restarted ? undefined : ended, entries)).toMatchObject({
      state: 'running',
      stages: { shout: { state: 'running' } },
    });
    journal.close('failed');
    expect(reader.read()).toMatchObject({ restarted: false, entries: [{ kind: 'end' }] });
  });

  it('passes every event on, and writes none before it is open', () => {
    const journal = keepJournal(ports());
    journal.ports.emit(STARTED);
    journal.open(path);
    journal.ports.emit(STARTED);
    journal.close('failed');
    expect(emitted).toEqual([STARTED, STARTED]);
    expect(readFileSync(path, 'utf8').trimEnd().split('\n')).toHaveLength(2);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('holds the first and the last report of quick progress, and few between', () => {
    const journal = keepJournal(ports());
    journal.open(path);
    for (let done = 1; done <= 1000; done++) journal.ports.emit({ kind: 'progress', stage: shout, done, total: 1000, what: 'images' });
    journal.close('built');
    const { entries } = followJournal(path).read();
    expect(entries.length).toBeLessThan(200);
    expect([entries[0]?.done, entries.at(-2)?.done]).toEqual([1, 1000]);
  });

  it('of the next build replaces it, which a reader notices', () => {
    const reader = followJournal(path);
    for (const conclusion of ['built', 'failed'] as const) {
      const journal = keepJournal(ports());
      journal.open(path);
      journal.close(conclusion);
      const { restarted, entries } = reader.read();
      expect([restarted, entries.at(-1)?.conclusion]).toEqual([true, conclusion]);
    }
  });

  it('with damaged, unknown and incomplete lines is read as far as it is known', () => {
    mkdirSync(join(folder, 'state'));
    const line = JSON.stringify({ kind: 'end', atMs: 1, conclusion: 'built' });
    writeFileSync(path, `\u0000garbage\n{"kind":"tomorrow","atMs":1}\n{"kind":"end"}\n[]\n${line}\n${line.slice(0, 9)}`);
    const reader = followJournal(path);
    expect(reader.read().entries).toEqual([{ kind: 'end', atMs: 1, conclusion: 'built' }]);
    appendFileSync(path, `${line.slice(9)}\n`);
    expect(reader.read().entries).toHaveLength(1);
  });

  it('that cannot be written is a warning, once, and stops no build', () => {
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, 'own.txt'), '');
    const journal = keepJournal(ports());
    journal.open(path);
    journal.ports.emit(STARTED);
    journal.close('built');
    expect(emitted.map(({ kind }) => kind)).toEqual(['warning', 'stage-started']);
    expect(emitted[0]).toMatchObject({ code: 'cache-write-failed' });
  });
});
