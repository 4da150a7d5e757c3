/** Programs of stages are started by small processes of their own, and end as those that the build itself starts. */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createStarters, type Starters } from '../../../src/engine/execute/starter/starters.js';
import { runTool, type StartedProgram, type ToolSurroundings } from '../../../src/stage/tool-runner.js';
import type { StageSpec } from '../../support/plan-of.js';
import { isAlive, until } from '../../support/until.js';
import type { World } from '../../support/world.js';
import { DIST, givenWorld } from '../../support/world.js';

let world: World;
let starters: Starters;
beforeEach(() => {
  world = givenWorld({}, { 'source.txt': 'one' });
  starters = createStarters(DIST, { count: 1, after: 0, reaper: undefined });
});
afterEach(() => {
  starters.close();
  world.remove();
});

describe('a program of a starter', () => {
  it('ends with its exit code after its output was received', async () => {
    const heard: string[] = [];
    const result = await run(['sh', '-c', 'echo out; echo err >&2; exit 3'], { hear: (stream, text) => heard.push(`${stream} ${text}`) });
    expect(result).toEqual({ exitCode: 3, signal: undefined });
    expect(heard.sort()).toEqual(['stderr err\n', 'stdout out\n']);
  });

  it('gets its arguments, folder, whole environment and a plain umask', async () => {
    const before = process.umask(0o077);
    try {
      const script = 'printf "%s|" "$1" "$PWD" "$(umask)"; env | grep -cv "^\\(PATH\\|A\\|PWD\\|SHLVL\\|_\\)="; printf "%s" "$A"';
      const text = await output(['sh', '-c', script, 'sh', 'a "b\'\n'], { env: { PATH: process.env.PATH ?? '', A: 'ä' } });
      expect(text).toBe(`a "b'\n|${world.folder}|0022|0\nä`);
    } finally {
      process.umask(before);
    }
  });

  it('reports the signal that ended it', async () => {
    expect(await run(['sh', '-c', 'kill -KILL $$'])).toEqual({ exitCode: undefined, signal: 'SIGKILL' });
  });

  it.each([
    ['is not there', ['no-such-program'], 'tool-missing'],
    ['has too long an argument', ['true', 'x'.repeat(1 << 20)], 'arguments-too-long'],
  ])('fails with a code where it %s', async (_name, command, code) => {
    await expect(run(command)).rejects.toMatchObject({ code });
  });

  it('loses nothing of a long output, and no character at a chunk boundary', async () => {
    const text = await output(['node', '-e', "process.stdout.write('aä€😀'.repeat(200000))"]);
    expect(text === 'aä€😀'.repeat(200_000)).toBe(true);
  });

  it('has its secrets masked in its output, also across chunks', async () => {
    const mask = (await import('../../../src/stage/mask.js')).makeMask(['s3cret']);
    expect(await output(['sh', '-c', 'printf s3c; sleep .1; printf "ret s3"'], { mask })).toBe('*** s3');
  });

  it('is killed with its background children on abort', async () => {
    const abort = new AbortController();
    const ended = run(['sh', '-c', 'trap "" TERM; sleep 60 & echo $! > child; while :; do sleep 1; done'], { signal: abort.signal });
    await until(() => existsSync(world.path('child')));
    abort.abort();
    expect(await ended).toEqual({ exitCode: undefined, signal: 'SIGKILL' });
    await until(() => !isAlive(Number(world.read('child'))));
  });

  it.each(['starter', 'build'] as const)('of the %s ends on abort even if a process of another session holds its output', async starter => {
    const abort = new AbortController();
    const ended = run(['sh', '-c', 'setsid sleep 60 & echo $! > child; echo $$ > program; mv program over'], {
      signal: abort.signal,
      ...(starter === 'build' ? { start: () => undefined } : {}),
    });
    await until(() => existsSync(world.path('over')));
    try {
      // Its end is seen when it has been reaped, and told a moment later.
      await until(() => !existsSync(`/proc/${world.read('over').trim()}`));
      await wait(500);
      abort.abort();
      const end = await Promise.race([ended, wait(20_000, 'still waits' as const, { ref: false })]);
      expect(end).toEqual({ exitCode: 0, signal: undefined });
    } finally {
      process.kill(Number(world.read('child')), 'SIGKILL');
      await ended;
    }
  });

  it('ends on abort even if its starter is stopped', async () => {
    const abort = new AbortController();
    const ended = run(['sh', '-c', 'echo $PPID > parent; echo $$ > program; exec sleep 60'], { signal: abort.signal });
    const refused = expect(ended).rejects.toMatchObject({ code: 'starter-died' });
    await until(() => existsSync(world.path('program')) && world.read('program') !== '');
    process.kill(Number(world.read('parent')), 'SIGSTOP');
    try {
      abort.abort();
      await refused;
      await until(() => !isAlive(Number(world.read('program'))));
    } finally {
      signal(Number(world.read('parent')), 'SIGKILL');
    }
  });

  it('fails when its starter ends, and the next program is started without that starter', async () => {
    const ended = run(['sh', '-c', 'echo $PPID > parent; echo $$ > program; exec sleep 60']);
    await until(() => existsSync(world.path('program')) && world.read('program') !== '');
    process.kill(Number(world.read('parent')), 'SIGKILL');
    await expect(ended).rejects.toMatchObject({ code: 'starter-died' });
    await until(() => !isAlive(Number(world.read('program'))));
    expect(await output(['sh', '-c', 'echo $PPID'])).toBe(`${process.pid}\n`);
  });
});

describe('a folder that a starter removes', () => {
  it('is removed when the starters are closed, whatever the modes of its content', async () => {
    mkdirSync(world.path('run/closed'), { recursive: true });
    world.write('run/closed/file', 'text');
    chmodSync(world.path('run/closed'), 0o500);
    await untilReady();
    await starters.remove(world.path('run'));
    await starters.close();
    expect(existsSync(world.path('run'))).toBe(false);
  });

  it('is not waited for if its starter has ended', async () => {
    await run(['sh', '-c', 'echo $PPID > parent']);
    mkdirSync(world.path('run'));
    process.kill(Number(world.read('parent')), 'SIGKILL');
    await starters.remove(world.path('run'));
    await starters.close();
  });
});

describe('a build of many programs', () => {
  /** Number of programs that a build starts without starters. */
  const DIRECT = 120;
  const PROGRAMS = DIRECT + 60;
  const many = (run: (index: number) => readonly string[]): Readonly<Record<string, StageSpec>> =>
    Object.fromEntries(
      Array.from({ length: PROGRAMS }, (_, index) => [
        `s${index}`,
        { uses: 'tool', inputs: { text: 'source.txt' }, params: { run: run(index) } },
      ]),
    );

  it('starts the first of them itself, and few of the others', async () => {
    world.stages = many(index => ['sh', '-c', `echo $PPID ${index} >> '${world.path('parents')}'; cp "$0" "$1"`]);
    expect((await world.build({ jobs: 1 })).report.conclusion).toBe('built');
    const parents = world.read('parents').trim().split('\n');
    expect(parents).toHaveLength(PROGRAMS);
    const own = parents.filter(line => line.startsWith(`${process.pid} `)).length;
    expect([own >= DIRECT, own < PROGRAMS - 20]).toEqual([true, true]);
  });

  it('starts no other process for a build of 100 programs', async () => {
    const stages = Object.entries(many(index => ['sh', '-c', `echo $PPID ${index} >> '${world.path('parents')}'; cp "$0" "$1"`]));
    world.stages = Object.fromEntries(stages.slice(0, 100));
    expect((await world.build({ jobs: 1 })).report.conclusion).toBe('built');
    const parents = world.read('parents').trim().split('\n');
    expect(parents.filter(line => line.startsWith(`${process.pid} `))).toHaveLength(100);
  });

  /** A build whose last program hangs, and has written its own process and that of its starter. */
  async function startHanging(): Promise<ChildProcess> {
    const hang = `test $0 != ${PROGRAMS - 1} || { echo $PPID > '${world.path('parent')}'; echo $$ > '${world.path('program')}'; sleep 60; }; cp "$1" "$2"`;
    const stages = many(index => ['sh', '-c', hang, String(index)]);
    const build = spawn(process.execPath, [join(DIST, 'test/support/engine-driver.js'), world.folder, JSON.stringify(stages), '1'], {
      stdio: 'ignore',
    });
    await until(() => existsSync(world.path('program')) && world.read('program') !== '');
    return build;
  }

  it('leaves neither program nor starter running when it is killed', async () => {
    const build = await startHanging();
    build.kill('SIGKILL');
    expect(Number(world.read('parent'))).not.toBe(build.pid);
    for (const name of ['program', 'parent']) await until(() => !isAlive(Number(world.read(name))));
  });

  it('leaves no program running when all its processes are killed at once', async () => {
    const build = await startHanging();
    await wait(300);
    const parent = Number(world.read('parent'));
    // A stopped process does nothing more before it dies.
    process.kill(parent, 'SIGSTOP');
    build.kill('SIGKILL');
    process.kill(parent, 'SIGKILL');
    const program = Number(world.read('program'));
    try {
      await until(() => !isAlive(program), 'the end of the program');
    } finally {
      signal(program, 'SIGKILL');
    }
  });

  it('starts the reaper before the first program', async () => {
    const script = `sleep .3; ps -o pid=,args= --ppid $PPID | grep '[w]hile read' > '${world.path('shell')}'; echo $$ > "$0"`;
    world.stages = { one: { uses: 'tool', inputs: { text: 'source.txt' }, params: { run: ['sh', '-c', script, world.path('program')] } } };
    await world.build();
    expect(Number.parseInt(world.read('shell').trim(), 10)).toBeLessThan(Number(world.read('program')));
  });

  it('leaves no starter behind', async () => {
    world.stages = many(index => ['sh', '-c', `echo $PPID ${index} >> '${world.path('parents')}'; cp "$0" "$1"`]);
    await world.build({ jobs: 1 });
    const parents = new Set(
      world
        .read('parents')
        .trim()
        .split('\n')
        .map(line => Number(line.split(' ')[0])),
    );
    parents.delete(process.pid);
    expect(parents.size).toBeGreaterThan(0);
    for (const parent of parents) await until(() => !isAlive(parent));
  });
});

type Hear = (stream: 'stdout' | 'stderr', text: string) => void;

async function run(command: readonly string[], options: Partial<ToolSurroundings> & { readonly hear?: Hear } = {}) {
  const surroundings: ToolSurroundings = {
    env: { PATH: process.env.PATH ?? '' },
    signal: new AbortController().signal,
    group: 'own',
    log: () => undefined,
    start: (program, hear) => starters.start(program, hear),
    ...options,
  };
  await untilReady();
  return runTool(command, { cwd: world.folder, env: {}, ...(options.hear === undefined ? {} : { onOutput: options.hear }) }, surroundings);
}

async function output(command: readonly string[], options: Partial<ToolSurroundings> = {}): Promise<string> {
  let text = '';
  await run(command, {
    ...options,
    log: said => {
      text += said;
    },
  });
  return text;
}

/** A starter takes a moment to be up, and one that is gone does not come back. */
let settled = new WeakSet<Starters>();
async function untilReady(): Promise<void> {
  if (settled.has(starters)) return;
  settled = settled.add(starters);
  let started: StartedProgram | undefined;
  await until(() => {
    started = starters.start({ command: ['true'], cwd: '/', env: { PATH: process.env.PATH ?? '' } }, () => undefined);
    return started !== undefined;
  });
  await started?.ended;
}

/** To one that may be gone. */
function signal(pid: number, name: 'SIGKILL'): void {
  try {
    process.kill(pid, name);
  } catch {
    // It is gone.
  }
}
