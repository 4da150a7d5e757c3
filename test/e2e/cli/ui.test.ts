/** `tanren ui` shows the project live: builds of the page, builds started elsewhere, killed builds, edits of the pipeline file. */

import type { PipelineView } from '../../../src/report/views/pipeline-data.js';
import type { StageView } from '../../../src/report/views/stage-data.js';
import type { RunningBuild } from '../../../src/web/project/running-build.js';
import type { EndedBuild } from '../../../src/web/project/started-builds.js';
import type { ComparisonView, RunsView } from '../../../src/web/views/runs-view.js';
import { type CliWorld, givenProject, TEXT_PROJECT } from '../../support/cli-world.js';
import { findPage, type PageServer } from '../../support/page-client.js';
import { until } from '../../support/until.js';

let world: CliWorld;
let page: PageServer;
beforeEach(async () => {
  world = givenProject(TEXT_PROJECT);
  page = await findPage(world.start('ui', '--port', '0'));
});
afterEach(() => world.remove());

const stateOf = async (stage: string): Promise<string | undefined> =>
  (await page.json<PipelineView>('pipeline')).stages.find(({ id }) => id === stage)?.state;

/** A stage that waits until the file `hold` is gone. */
const HELD = `version: 1
params: {mode: upper}
stages:
  slow: {uses: command, with: {run: [sh, -c, "echo begun; while [ -e \\"$HOLD\\" ]; do sleep .02; done; echo done > out"], outputs: {out: out}}, env: [HOLD]}
`;

describe('the page of a project', () => {
  it('shows stages that were never built, and builds them', async () => {
    const before = await page.json<PipelineView>('pipeline');
    expect(before.stages.map(({ built }) => built)).not.toContain(true);
    expect(before.lastRun).toBeUndefined();
    const events = page.follow();
    expect((await page.post('build', { targets: [] })).status).toBe(200);

    const build = await events.next<RunningBuild>('build', one => one?.state === 'ended');
    expect(build).toMatchObject({ conclusion: 'built', command: expect.stringContaining('tanren build') });
    expect(build.stages.shout).toMatchObject({ state: 'executed', reasons: ['never built'] });
    expect(await events.next<EndedBuild>('ended')).toMatchObject({ exitCode: 0 });
    await until(() => world.exists('artifacts/shout/text'));
    expect(await stateOf('shout')).toBe('up-to-date');
    events.close();
  });

  it('shows params with their origin, inputs with digests, and the history of a stage', async () => {
    world.run('build');
    const stage = await page.json<StageView>('stage?id=shout');
    expect(stage).toMatchObject({ id: 'shout', plugin: 'command', state: 'up-to-date', why: [], file: 'pipeline.yaml' });
    expect(stage.inputs[0]).toMatchObject({ from: { kind: 'source', path: 'notes.txt' }, digest: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(stage.params.map(({ origin }) => origin.kind)).toEqual(expect.arrayContaining(['default', 'file']));
    expect(stage.history).toMatchObject([{ run: 'r1', outcome: 'executed', reasons: ['never built'] }]);
  });

  it('says why a stage is out of date after an edit, without a build', async () => {
    world.run('build');
    const events = page.follow();
    await events.next('hello');
    expect(await stateOf('shout')).toBe('up-to-date');
    world.saveByRename('notes.txt', 'anvil\n');
    await events.next('changed');
    const { stages } = await page.json<PipelineView>('pipeline');
    expect(stages.find(({ id }) => id === 'shout')).toMatchObject({ state: 'stale', why: ['source notes.txt changed'] });
    events.close();
  });

  it('lists the errors of the pipeline file with their places', async () => {
    world.write('pipeline.yaml', TEXT_PROJECT['pipeline.yaml'].replace('uses: command', 'uses: comand'));
    const { stages, problems } = await page.json<PipelineView>('pipeline');
    expect(stages).toEqual([]);
    expect(problems[0]).toMatchObject({ code: 'unknown-plugin', file: 'pipeline.yaml', line: 6, column: 11, severity: 'error' });
    const { status, body } = await page.ask('/api/stage?id=shout');
    expect([status, JSON.parse(body).error.code]).toEqual([409, 'ui-no-plan']);
    expect((await page.ask('/api/runs')).status).toBe(200);
  });

  it('follows a build that was started elsewhere, from its start to its end', async () => {
    world.write('pipeline.yaml', HELD);
    const hold = `${world.folder}/hold`;
    world.write('hold', '');
    const events = page.follow();
    const elsewhere = world.with({ environment: { HOLD: hold } }).start('build');
    const running = await events.next<RunningBuild>('build', one => one?.stages.slow?.state === 'running');
    expect(running).toMatchObject({ state: 'running', command: 'tanren build' });
    const log = async (): Promise<string> => (await page.json<{ text: string }>('log?id=slow')).text;
    for (let text = ''; !text.includes('begun'); ) text = await log();
    world.unlink('hold');
    expect(await events.next<RunningBuild>('build', one => one?.state === 'ended')).toMatchObject({ conclusion: 'built' });
    expect(await elsewhere.ended).toBe(0);
    events.close();
  });

  it('shows a stage that was edited while it ran as out of date, while its build still runs', async () => {
    const wait = (what: string): string => `while [ -e \\"$HOLD-${what}\\" ]; do sleep .02; done; echo done > out`;
    const stage = (what: string): string => `{uses: command, with: {run: [sh, -c, "${wait(what)}"], outputs: {out: out}}, env: [HOLD]}`;
    const names = ['edited', 'kept', 'last'];
    const file = `version: 1\nstages:\n${names.map(name => `  ${name}: ${stage(name)}\n`).join('')}`;
    world.write('pipeline.yaml', file);
    for (const name of names) world.write(`hold-${name}`, '');
    // The variable is in the key of the stages: server and build have the same one.
    const own = world.with({ environment: { HOLD: `${world.folder}/hold` } });
    const server = await findPage(own.start('ui', '--port', '0'));
    const states = async (): Promise<string> =>
      (await server.json<PipelineView>('pipeline')).stages.map(({ id, state }) => `${id} ${state}`).join(', ');
    const events = server.follow();
    await events.next('hello');
    const elsewhere = own.start('build', '-j', '3');
    const runs = (...wanted: readonly string[]) =>
      events.next<RunningBuild>('build', one => wanted.every(name => one?.stages[name]?.state === 'running'));
    await runs(...names);
    expect(await states()).toBe('edited stale, kept stale, last stale');
    world.saveByRename('pipeline.yaml', file.replace('echo done > out', 'echo other > out'));
    await events.next('changed');
    for (const name of ['edited', 'kept']) world.unlink(`hold-${name}`);
    const build = await events.next<RunningBuild>('build', one =>
      ['edited', 'kept'].every(name => one?.stages[name]?.state === 'executed'),
    );
    expect(build.stages.last?.state).toBe('running');
    // Results are accepted a moment after the journal tells of them.
    for (const until30s = performance.now() + 30_000; performance.now() < until30s; )
      if ((await states()) === 'edited stale, kept up-to-date, last stale') break;
    expect(await states()).toBe('edited stale, kept up-to-date, last stale');
    world.unlink('hold-last');
    expect(await elsewhere.ended).toBe(0);
    expect(await states()).toBe('edited stale, kept up-to-date, last up-to-date');
    events.close();
  });

  it('shows a build whose process was killed as broken off', async () => {
    world.write('pipeline.yaml', HELD);
    world.write('hold', '');
    const events = page.follow();
    const elsewhere = world.with({ environment: { HOLD: `${world.folder}/hold` } }).start('build');
    await events.next<RunningBuild>('build', one => one?.stages.slow?.state === 'running');
    elsewhere.signal('SIGKILL');
    await events.next<RunningBuild>('build', one => one?.state === 'broken-off');
    world.unlink('hold');
    events.close();
  });

  it('cancels a build that it has started', async () => {
    const own = world.with({ environment: { HOLD: `${world.folder}/hold` } });
    world.write('pipeline.yaml', HELD);
    world.write('hold', '');
    const other = await findPage(own.start('ui', '--port', '0'));
    const events = other.follow();
    await other.post('build', { targets: ['slow'] });
    await events.next<RunningBuild>('build', one => one?.stages.slow?.state === 'running');
    expect(JSON.parse((await other.post('cancel', {})).body)).toEqual({ cancelled: 1 });
    expect(await events.next<RunningBuild>('build', one => one?.state === 'ended')).toMatchObject({ conclusion: 'cancelled' });
    expect(await events.next<EndedBuild>('ended')).toMatchObject({ exitCode: 130 });
    events.close();
  });

  it('cancels a build twice at once, as a double click does, with a conclusion', async () => {
    const own = world.with({ environment: { HOLD: `${world.folder}/hold` } });
    // The command takes a moment to end.
    world.write('pipeline.yaml', HELD.replace('echo begun;', 'trap \\"sleep .3; exit 1\\" TERM INT; echo begun;'));
    world.write('hold', '');
    const other = await findPage(own.start('ui', '--port', '0'));
    const events = other.follow();
    await other.post('build', { targets: ['slow'] });
    await events.next<RunningBuild>('build', one => one?.stages.slow?.state === 'running');
    await Promise.all([other.post('cancel', {}), other.post('cancel', {})]);
    expect(await events.next<RunningBuild>('build', one => one !== null && one.state !== 'running')).toMatchObject({
      state: 'ended',
      conclusion: 'cancelled',
    });
    events.close();
  });

  it('cancels a build that has hardly begun, which is no failure', async () => {
    const events = page.follow();
    await events.next('hello');
    await page.post('build', { targets: [] });
    await page.post('cancel', {});
    expect(await events.next<EndedBuild>('ended')).toMatchObject({ exitCode: 130 });
    events.close();
  });

  it('shows what a build said that ended before its first stage', async () => {
    const events = page.follow();
    await events.next('hello');
    await page.json('pipeline');
    world.unlink('notes.txt');
    await page.post('build', { targets: [] });
    const ended = await events.next<EndedBuild>('ended');
    expect(ended.exitCode).toBe(1);
    events.close();
  });

  it('lists runs with what changed, and compares them', async () => {
    world.run('build');
    world.write('score.txt', '{"quality": {"words": 5}}\n');
    world.run('build');
    const { runs } = await page.json<RunsView>('runs');
    expect(runs.map(({ run }) => run)).toEqual(['r2', 'r1']);
    expect(runs[0]?.changes).toEqual(['source score.txt changed']);
    const figures = runs.map(one => Object.entries(one.figures).find(([name]) => name.endsWith('quality.words'))?.[1]);
    expect(figures).toEqual([5, 3]);
    const { moments } = await page.json<ComparisonView>('compare?of=r1,last,now');
    expect(moments.map(({ name }) => name)).toEqual(['r1', 'r2', 'now']);
    const { status, body } = await page.ask('/api/compare?of=r9');
    expect([status, JSON.parse(body).error.code]).toEqual([422, 'no-such-run']);
  });

  it('saves a run or the present results as a baseline, which the command and the page read; replaces one only when told to', async () => {
    world.run('build');
    const save = async (body: object): Promise<readonly [number, string]> => {
      const { status, body: text } = await page.post('baseline', body);
      const answer = JSON.parse(text) as { readonly path?: string; readonly error?: { readonly code: string } };
      return [status, answer.path ?? answer.error?.code ?? ''];
    };
    expect(await save({ of: 'now', name: 'first' })).toEqual([200, 'baselines/first.json']);
    // The command writes the same bytes.
    const written = world.read('baselines/first.json');
    expect(world.run('metrics', '--save', 'second').exitCode).toBe(0);
    expect(world.read('baselines/second.json')).toBe(written);
    expect((await page.json<RunsView>('runs')).baselines).toEqual(['first', 'second']);
    expect(await save({ of: 'r1', name: 'first' })).toEqual([409, 'ui-baseline-exists']);
    expect(await save({ of: 'r1', name: 'first', replace: true })).toEqual([200, 'baselines/first.json']);
    expect(await save({ of: 'r9', name: 'third' })).toEqual([422, 'no-such-run']);
    for (const name of ['../evil', 'now', 'r1', '', 'a/b']) expect(await save({ of: 'now', name })).toEqual([422, 'bad-baseline-name']);
    expect(await save({ of: 'baseline:first', name: 'x' })).toEqual([400, 'ui-bad-request']);
    expect(world.exists('baselines/third.json')).toBe(false);
  });

  it('ends on Ctrl-C with open pages', async () => {
    const other = world.start('ui', '--port', '0');
    const opened = await findPage(other);
    const events = opened.follow();
    await events.next('hello');
    other.signal('SIGINT');
    expect(await other.ended).toBe(130);
    events.close();
  });

  it('names a port that is in use, and refuses one that is none', () => {
    const taken = world.run('ui', '--port', String(page.port));
    expect([taken.exitCode, taken.stderr]).toEqual([2, expect.stringContaining(`error[ui-port]: port ${page.port} is in use`)]);
    for (const port of ['70000', '80.5', '80x'])
      expect(world.run('ui', '--port', port)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('port from 0 to 65535') });
  });

  it('has the same port in every start, and another one while that is in use', async () => {
    const first = world.start('ui');
    const one = await findPage(first);
    const second = world.start('ui');
    const two = await findPage(second);
    expect(two.port).not.toBe(one.port);
    expect(two.token).toBe(one.token);
    for (const process of [first, second]) process.signal('SIGINT');
    await Promise.all([first.ended, second.ended]);
    const again = world.start('ui');
    expect((await findPage(again)).port).toBe(one.port);
  });
});

describe('watch --ui', () => {
  it('shows the builds of the watch itself, and what a save changes', async () => {
    const watch = world.start('watch', '--ui');
    const own = await findPage(watch);
    const events = own.follow();
    await events.next<RunningBuild>('build', one => one?.state === 'ended' && one.conclusion === 'built');
    await watch.waitFor('watching; Ctrl-C ends');
    world.write('score.txt', '{"quality": {"words": 5}}\n');
    await watch.waitFor('watching; Ctrl-C ends');
    const { stages } = await own.json<PipelineView>('pipeline');
    expect(stages.find(({ id }) => id === 'judge')?.figures).toEqual([
      { label: 'quality.words', metric: 'quality.words', value: 5, previous: 3 },
    ]);
    events.close();
    watch.signal('SIGINT');
    expect(await watch.ended).toBe(130);
  });
});
