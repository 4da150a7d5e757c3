/** Builds stay right when several run at once, and when one is killed. */
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { digestBytes } from '../../../src/base/digest.js';
import type { BuildEvent } from '../../../src/engine/model/events.js';
import { isUnfinished } from '../../../src/engine/store/files/write-file.js';
import type { StageSpec } from '../../support/plan-of.js';
import { isAlive, until } from '../../support/until.js';
import type { World } from '../../support/world.js';
import { DIST, givenWorld } from '../../support/world.js';

let world: World;
let children: ChildProcess[] = [];
beforeEach(() => {
  world = givenWorld({}, { 'source.txt': 'one\ntwo' });
});
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  children = [];
  world.remove();
});

describe('two builds at once', () => {
  it('run each stage once: the second waits, reports it, and finds the result', async () => {
    world.stages = waiting();
    const first = startBuild(world);
    await until(() => existsSync(world.path('trace')));
    const second = startBuild(world);
    await second.sees('waiting-for-lock');
    world.write('go', '');

    expect(await first.end).toBe('built');
    expect(await second.end).toBe('built');
    expect(world.read('trace')).toBe('start \nend \n');
    expect(second.outcomes()).toEqual({ act: 'up-to-date', strip: 'up-to-date' });
  });

  it('release the lock when the holder is killed with its worker: the waiting build continues at once', async () => {
    world.stages = waiting({ pid: world.path('pid') });
    const first = startBuild(world);
    await until(() => existsSync(world.path('trace')));
    const second = startBuild(world);
    await second.sees('waiting-for-lock');
    first.child.kill('SIGKILL');
    await until(() => world.read('trace').split('\n').length === 3);
    const [orphan] = world.read('pid').split('\n').map(Number);
    await until(() => !isAlive(orphan ?? 0));
    world.write('go', '');

    expect(await second.end).toBe('built');
    expect(second.outcomes()).toEqual({ act: 'executed', strip: 'executed' });
    expect(world.read('artifacts/strip/text')).toBe('ONE\nTWO');
  });
});

describe('a build killed at a random moment', () => {
  it('leaves a state from which the next build is correct, and no wrong blob', async () => {
    world.stages = {
      strip: { uses: 'strip', inputs: { text: 'source.txt' } },
      folders: { uses: 'folders', inputs: { text: 'strip.text' } },
      list: { uses: 'list', inputs: { all: 'folders.all' } },
      count: { uses: 'count', inputs: { text: 'list.text' } },
    };
    for (let round = 0; round < 8; round++) {
      world.write('source.txt', `one\n${round}`);
      const running = startBuild(world);
      await wait(90 + 45 * round);
      running.child.kill('SIGKILL');
      await running.end;
    }
    const { report } = await world.build();

    expect(report.conclusion).toBe('built');
    expect(world.read('artifacts/strip/text')).toBe('ONE\n7');
    expect(world.read('artifacts/folders/all/text.txt')).toBe('ONE\n7');
    expect(world.read('artifacts/count/text')).toBe('2\n');
    expect(readdirSync(world.path('cache/tmp'))).toEqual([]);
    for (const entry of readdirSync(world.path('cache/cas'), { recursive: true, withFileTypes: true })) {
      // A blob appears by rename. What a kill left of a write has another name, and `cache gc` removes it.
      if (entry.isFile() && !isUnfinished(entry.name))
        expect(digestBytes(readFileSync(join(entry.parentPath, entry.name)))).toBe(entry.name);
    }
    expect((await world.build()).outcomes).toEqual({ strip: 'up-to-date', folders: 'up-to-date', list: 'up-to-date', count: 'up-to-date' });
  });
});

describe('a killed build', () => {
  it('leaves no worker that ignores signals and no program running', async () => {
    const script = "require('fs').writeFileSync(process.argv[1], String(process.pid)); setInterval(() => {}, 1000);";
    world.stages = {
      busy: { uses: 'act', inputs: { text: 'source.txt' }, params: { pid: world.path('busy'), end: 'hang' } },
      tool: { uses: 'tool', inputs: { text: 'source.txt' }, params: { run: ['node', '-e', script, '--', world.path('tool')] } },
    };
    const running = startBuild(world);
    await until(() => ['busy', 'tool'].every(name => existsSync(world.path(name)) && world.read(name) !== ''));
    running.child.kill('SIGKILL');
    await running.end;

    for (const name of ['busy', 'tool']) await until(() => !isAlive(Number(world.read(name))));
  });
});

describe('an interrupted build', () => {
  it('ends soon, cancelled, and leaves no child', async () => {
    world.stages = waiting({ pid: world.path('pid'), child: world.path('child') });
    const running = startBuild(world);
    await until(() => existsSync(world.path('child')));
    running.child.kill('SIGINT');

    expect(await running.end).toBe('cancelled');
    for (const name of ['pid', 'child']) await until(() => !isAlive(Number(world.read(name))));
    expect(readdirSync(world.path('cache/tmp'))).toEqual([]);
  });
});

function waiting(params: StageSpec['params'] = {}): Readonly<Record<string, StageSpec>> {
  return {
    act: { uses: 'act', inputs: { text: 'source.txt' }, params: { until: world.path('go'), trace: world.path('trace'), ...params } },
    strip: { uses: 'strip', inputs: { text: 'act.text' } },
  };
}

interface RunningBuild {
  readonly child: ChildProcess;
  /** The conclusion; undefined where the process was killed. */
  readonly end: Promise<string | undefined>;
  outcomes(): Readonly<Record<string, string>>;
  sees(kind: BuildEvent['kind']): Promise<void>;
}

function startBuild({ folder, stages }: World): RunningBuild {
  const child = spawn(process.execPath, [join(DIST, 'test/support/engine-driver.js'), folder, JSON.stringify(stages)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  const events = (): (BuildEvent | { kind: 'end'; conclusion: string })[] =>
    text
      .split('\n')
      .slice(0, -1)
      .map(line => JSON.parse(line));
  return {
    child,
    end: new Promise(resolve =>
      child.on('close', () => resolve(events().flatMap(event => (event.kind === 'end' ? [event.conclusion] : []))[0])),
    ),
    outcomes: () => Object.fromEntries(events().flatMap(event => (event.kind === 'outcome' ? [[event.stage, event.outcome.kind]] : []))),
    sees: kind => until(() => events().some(event => event.kind === kind)),
  };
}
