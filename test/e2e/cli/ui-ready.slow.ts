/** A process that `tanren ui` keeps ready: it runs the next build, with workers that were started ahead, and ends with the page, with its server, and where it is of no use. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { TAKE_ORDER } from '../../../src/cli/pipeline/build-orders.js';
import type { RunningBuild } from '../../../src/web/project/running-build.js';
import type { EndedBuild } from '../../../src/web/project/started-builds.js';
import { type CliProcess, type CliWorld, givenProject } from '../../support/cli-world.js';
import { findPage, type PageServer } from '../../support/page-client.js';
import { addSmallClassifier } from '../../support/small-classifier.js';
import { isAlive, until } from '../../support/until.js';

let world: CliWorld;
let server: CliProcess;
let page: PageServer;
let events: ReturnType<PageServer['follow']>;
beforeEach(async () => {
  world = givenProject({});
  await addSmallClassifier(world.folder);
  server = world.start('ui', 'classifier.yaml', '--port', '0');
  page = await findPage(server);
  events = page.follow();
  await events.next('hello');
});
afterEach(() => {
  events.close();
  world.remove();
});

interface Waiting {
  readonly pid: number;
  /** Bundles of the workers that it starts ahead. */
  readonly workers: readonly string[];
}

/** The processes of the project that wait for an order; found in /proc. */
function findWaiting(): readonly Waiting[] {
  return readdirSync('/proc').flatMap((name): readonly Waiting[] => {
    try {
      const [, , command, order = ''] = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0');
      if (command !== TAKE_ORDER || readlinkSync(`/proc/${name}/cwd`) !== world.folder || !isAlive(Number(name))) return [];
      const { kind, workers = [] } = JSON.parse(order) as { readonly kind: string; readonly workers?: readonly string[] };
      return kind === 'wait' ? [{ pid: Number(name), workers }] : [];
    } catch {
      return [];
    }
  });
}

/** Its workers are children, as they have no process of their own to belong to. */
function childrenOf(pid: number): readonly number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
}

/** The end of a build that the page starts now. */
function nextEnd(): Promise<EndedBuild> {
  return events.next<EndedBuild>('ended', ({ pid }) => {
    const isNew = !ended.has(pid);
    ended.add(pid);
    return isNew;
  });
}

/** The processes of builds whose end was seen. */
const ended = new Set<number>();

async function build(...targets: readonly string[]): Promise<number> {
  const end = nextEnd();
  const { status, body } = await page.post('build', { targets });
  expect([status, body.includes('error')]).toEqual([200, false]);
  const { pid, exitCode, said } = await end;
  expect([exitCode, said]).toEqual([0, '']);
  return pid;
}

async function oneWaits(): Promise<Waiting> {
  await until(() => findWaiting().length === 1, 'a process that waits');
  const [one] = findWaiting();
  if (one === undefined) throw new Error('the process that waited has ended');
  return one;
}

/** At most as many workers as there are slots for two rounds of stages. */
const MOST_WORKERS = Math.min(4, 2 * availableParallelism());

/** Ready is a process that has its workers, and that works no more: its processor time stays the same for a second. */
async function isReady({ pid, workers }: Waiting): Promise<readonly number[]> {
  await until(() => childrenOf(pid).length === Math.min(workers.length, MOST_WORKERS), 'its workers');
  for (let before = -1, now = ticksOf(pid); now !== before; now = ticksOf(pid)) {
    before = now;
    await wait(1_000);
  }
  return childrenOf(pid);
}

/** Processor time in hundredths of a second. */
function ticksOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The program's name is in parentheses and may contain spaces.
  const facts = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return Number(facts[11]) + Number(facts[12]);
}

const describeOnLinux = process.platform === 'linux' ? describe : describe.skip;

describeOnLinux('the process that waits for the next build of the page', () => {
  it('is started after a build, runs the next one with its workers, and gives the same results', async () => {
    expect(findWaiting()).toEqual([]);
    await build('classes-int8');
    const waiting = await oneWaits();
    expect(waiting.workers.map(path => /[\w-]+(?=\.cjs$)/.exec(path)?.[0])).toContain('simplify');
    const workers = await isReady(waiting);
    expect(workers.length).toBeGreaterThan(0);

    world.write(
      'classifier.yaml',
      world.read('classifier.yaml').replace('uses: quantize, inputs', 'uses: quantize, with: {preset: a8w8}, inputs'),
    );
    const running = events.next<RunningBuild>('build', one => one?.pid === waiting.pid && one.state === 'ended');
    expect(await build('classes-int8')).toBe(waiting.pid);
    const { conclusion, command, stages } = await running;
    expect([conclusion, command]).toEqual(['built', 'tanren build --keep-going --file classifier.yaml -- classes-int8']);
    expect(stages.quantize?.state).toBe('executed');
    const metrics = world.read('artifacts/classifier/classes-int8/metrics.json');
    await until(() => !workers.some(isAlive), 'the end of the workers');

    const elsewhere = givenProject({});
    try {
      await addSmallClassifier(elsewhere.folder);
      elsewhere.write('classifier.yaml', world.read('classifier.yaml'));
      expect(elsewhere.run('build', '-f', 'classifier.yaml', 'classes-int8').exitCode).toBe(0);
      expect(elsewhere.read('artifacts/classifier/classes-int8/metrics.json')).toBe(metrics);
    } finally {
      elsewhere.remove();
    }
  });

  it('is started where the page expects a build, with workers of quantize and of the target, and is the first build', async () => {
    expect((await page.post('prepare', { targets: ['classes-int8'] })).status).toBe(200);
    const waiting = await oneWaits();
    expect(waiting.workers.map(path => /[\w-]+(?=\.cjs$)/.exec(path)?.[0])).toEqual(['quantize', 'evaluate-classes']);
    await isReady(waiting);
    // A second page that expects the same starts no other one.
    await page.post('prepare', { targets: ['classes-int8'] });
    expect(await build('classes-int8')).toBe(waiting.pid);
    const next = await oneWaits();
    expect(next.workers).not.toEqual(waiting.workers);
  });

  it('keeps the workers that the page expects after a build that needed none or some of them', async () => {
    await build('classes-int8');
    await oneWaits();
    await page.post('prepare', { targets: ['classes-int8'] });
    await build('classes-int8');
    const { workers } = await oneWaits();
    expect(workers.map(path => /[\w-]+(?=\.cjs$)/.exec(path)?.[0])).toEqual(['quantize', 'evaluate-classes']);
  });

  it('is not started for a target that the pipeline does not have', async () => {
    const answer = await page.post('prepare', { targets: ['none'] });
    expect([answer.status, answer.body]).toEqual([400, expect.stringContaining('not a stage of the pipeline')]);
    await wait(1_000);
    expect(findWaiting()).toEqual([]);
  });

  it('takes an order while it still starts', async () => {
    await build('import');
    const { pid } = await oneWaits();
    expect(await build('import')).toBe(pid);
  });

  it('is cancelled like one that was started then', async () => {
    await build('import');
    const waiting = await oneWaits();
    await isReady(waiting);
    const hold = `${world.folder}/hold`;
    world.write('hold', '');
    const held = `{uses: command, with: {run: [sh, -c, "while [ -e ${hold} ]; do sleep .02; done; echo done > out"], outputs: {out: out}}}`;
    world.write('classifier.yaml', `version: 1\nstages:\n  slow: ${held}\n`);
    const end = nextEnd();
    await page.post('build', { targets: ['slow'] });
    await events.next<RunningBuild>('build', one => one?.stages.slow?.state === 'running');
    await page.post('cancel', {});
    expect(await end).toMatchObject({ pid: waiting.pid, exitCode: 130 });
  });

  it('ends when the last page is closed, and with its workers when the server is killed', async () => {
    await build('classes-float');
    const first = await oneWaits();
    const workers = await isReady(first);
    events.close();
    await until(() => ![first.pid, ...workers].some(isAlive), 'its end after the last page was closed');

    events = page.follow();
    await events.next('hello');
    await build('classes-float');
    const second = await oneWaits();
    const others = await isReady(second);
    server.signal('SIGKILL');
    await until(() => ![second.pid, ...others].some(isAlive), 'its end after the server was killed');
  });
});
