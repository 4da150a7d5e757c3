/** The contract of runners: the same action has the same results, messages and end under each of them. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { digestBytes } from '../../src/base/digest.js';
import type { JsonObject } from '../../src/base/json.js';
import { findSandbox } from '../../src/engine/execute/guard/sandbox.js';
import type { RunPartStore } from '../../src/engine/execute/parts/part-service.js';
import { inProcessRunner } from '../../src/engine/execute/run/in-process-run.js';
import { createReaper } from '../../src/engine/execute/run/reaper.js';
import { makeRunFolder, nameInputs } from '../../src/engine/execute/run/run-folder.js';
import type { Runner, RunOrder } from '../../src/engine/execute/run/runner.js';
import { workerRunner } from '../../src/engine/execute/run/worker-run.js';
import { createStarters } from '../../src/engine/execute/starter/starters.js';
import { makeMask } from '../../src/stage/mask.js';
import { noSandbox } from '../support/guards.js';
import { DIST } from '../support/shapes-project.js';

const MODULE = join(DIST, '../test/fixtures/plugins/contract.mjs');
const AT_ONCE = join(DIST, '../test/fixtures/plugins/worker-at-once.mjs');
const { default: plugin } = await import(pathToFileURL(MODULE).href);
const sandbox = await findSandbox();

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'tanren-runner-')));
  writeFileSync(join(folder, 'input.txt'), 'one\n');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Heard {
  readonly log: string[];
  readonly progress: string[];
  readonly identities: JsonObject[];
}

interface Case {
  readonly runner: Runner;
  /** The main module of the worker; default: that of plugins of third parties. */
  readonly bundle?: string;
  readonly guarded: 'sandbox' | 'no';
}

const cases: readonly (readonly [string, Case])[] = [
  ['a worker process', { runner: workerRunner, guarded: 'no' }],
  ['this process', { runner: inProcessRunner(plugin), guarded: 'no' }],
  ...(noSandbox === undefined
    ? ([
        ['a worker process in the sandbox', { runner: workerRunner, guarded: 'sandbox' }],
        ['this process, with programs in the sandbox', { runner: inProcessRunner(plugin), guarded: 'sandbox' }],
      ] as const)
    : []),
];
if (noSandbox !== undefined) process.stderr.write(`SKIPPED: runners in a sandbox: ${noSandbox}\n`);

describe.each(cases)('a runner by %s', (_name, way) => {
  it('writes the outputs, and reports messages and progress', async () => {
    const { failure, heard, output } = await run(way, 'copy');
    expect(failure).toBeUndefined();
    expect(output()).toBe('one\nseeded');
    expect(heard.log).toContain('info copying');
    expect(heard.progress).toEqual(['1/2 lines']);
  });

  it('starts programs with the declared variables, and masks their output', async () => {
    const { failure, heard, output } = await run(way, 'program', { GIVEN: 'heard' });
    expect(failure).toBeUndefined();
    expect(output()).toBe('3 heard\n');
    expect(heard.log.join('')).toContain('***');
    expect(heard.log.join('')).not.toContain('heard');
  });

  it('reports a failure with its code', async () => {
    const { failure } = await run(way, 'fail');
    expect(failure).toMatchObject({ code: 'stage-crashed', message: 'on purpose' });
  });

  it('reports the identity of a device, and gives declared variables', async () => {
    const { heard, output } = await run(way, 'identify', { GIVEN: 'value' });
    expect(heard.identities).toEqual([{ name: 'npu', driver: 7 }]);
    expect(output()).toBe('value');
  });

  it('cuts a long text of progress, so that it fits in a line', async () => {
    const { failure, heard } = await run(way, 'progress');
    expect(failure).toBeUndefined();
    expect(heard.progress).toEqual([`1/2 ${'x'.repeat(200)}… (cut here: it has 10000 characters)`]);
  });

  it('refuses an identity of a device that is too large for keys and messages', async () => {
    const { failure, heard } = await run(way, 'long identity');
    expect(failure).toMatchObject({
      code: 'device-unidentified',
      message: 'the identity of the device has 70011 characters as JSON; it may have at most 65536',
    });
    expect(heard.identities).toEqual([]);
  });

  it('asks for parts, and hands over those that were computed', async () => {
    const { failure, output, kept } = await run(way, 'part');
    expect(failure).toBeUndefined();
    expect(output()).toBe('computed ONE\n!');
    expect(kept).toEqual(['loud']);
  });

  it('ends soon after it is aborted, and leaves nothing that runs', async () => {
    const stop = new AbortController();
    const running = run(way, 'hang', {}, stop.signal);
    const pidFile = join(folder, 'run/scratch/pid');
    while (!existsSync(pidFile) || readFileSync(pidFile, 'utf8') === '') await wait(20);
    stop.abort();
    await running;
    // In the sandbox the number is one of its own: that nothing runs there is the sandbox's own test.
    if (way.guarded === 'no') expect(isAlive(Number(readFileSync(pidFile, 'utf8')))).toBe(false);
  });

  it('starts no program if the signal is already aborted', async () => {
    await run(way, 'hang', {}, AbortSignal.abort());
    expect(existsSync(join(folder, 'run/scratch/pid'))).toBe(false);
  });
});

describe('a worker process that was started ahead', () => {
  const runWith = async (script: string) => {
    const { order, close } = prepare({ runner: workerRunner, guarded: 'no' }, 'copy', {}, new AbortController().signal);
    const standby = {
      begin: () => spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'pipe', 'ipc'], detached: true }),
    };
    try {
      const failure = await workerRunner.run({ ...order, bundle: join(DIST, 'workers/any-plugin.cjs'), standby });
      return { failure, folder: order.folder };
    } finally {
      close();
    }
  };

  it('and died before it began is replaced by a new one', async () => {
    const { failure, folder: at } = await runWith('process.exit(3)');
    expect(failure).toBeUndefined();
    expect(readFileSync(join(at, 'outputs/text'), 'utf8')).toBe('one\nseeded');
  });

  it('and died after it began has failed', async () => {
    const { failure, folder: at } = await runWith("process.send({ kind: 'standby-begun' }, () => process.exit(3))");
    expect(failure).toMatchObject({ code: 'worker-died', message: 'the worker ended with exit code 3 and no result' });
    expect(existsSync(join(at, 'outputs/text'))).toBe(false);
  });
});

describe.each(
  noSandbox === undefined ? (['no', 'sandbox'] as const) : (['no'] as const),
)('a worker of a built-in plugin, guarded: %s', guarded => {
  it('ends without a word, and loses none of what it said', async () => {
    const { failure, heard, output } = await run({ runner: workerRunner, guarded, bundle: AT_ONCE }, 'copy');
    expect(failure).toBeUndefined();
    expect(output()).toBe('one\nseeded');
    expect(heard.progress).toEqual(['1/2 lines']);
    expect(heard.log).toEqual(['info copying']);
  });
});

async function run(way: Case, act: string, env: Readonly<Record<string, string>> = {}, signal = new AbortController().signal) {
  const { order, heard, kept, close } = prepare(way, act, env, signal);
  try {
    const failure = await way.runner.run(order);
    return { failure, heard, kept, output: () => readFileSync(join(order.folder, 'outputs/text'), 'utf8') };
  } finally {
    await order.guard?.close();
    close();
  }
}

function prepare({ guarded, bundle }: Case, act: string, env: Readonly<Record<string, string>>, signal: AbortSignal) {
  const at = join(folder, 'run');
  makeRunFolder(at);
  mkdirSync(join(at, 'parts'), { recursive: true });
  const heard: Heard = { log: [], progress: [], identities: [] };
  const kept: string[] = [];
  const reaper = createReaper();
  const starters = createStarters(DIST, { count: 1, after: 1_000, reaper });
  const mask = makeMask(['heard']);
  const inputs = nameInputs([{ port: 'text', entry: undefined, path: join(folder, 'input.txt'), kind: 'file', known: undefined }]);
  const guard =
    guarded === 'no' || sandbox.kind === 'impossible'
      ? undefined
      : sandbox.guard.open({
          projectFolder: folder,
          writable: [at],
          readable: [
            process.execPath,
            DIST,
            join(DIST, '../node_modules'),
            join(DIST, '../package.json'),
            MODULE,
            AT_ONCE,
            join(folder, 'input.txt'),
          ],
          ownCopies: [],
          network: 'none',
          pathPrefix: at,
        });
  const order: RunOrder = {
    action: {
      format: 1,
      plugin: 'contract',
      key: 'seed',
      params: { act },
      inputs: inputs.inputs,
      outputs: { text: 'outputs/text' },
      env: Object.keys(env),
      secrets: [],
      local: [],
    },
    local: { modulePath: MODULE, known: inputs.known, tools: {} },
    bundle,
    links: inputs.links,
    folder: at,
    installRoot: DIST,
    environment: process.env,
    declaredEnv: env,
    partStore: partStoreThatStores(kept),
    listener: {
      log: (level, text) => heard.log.push(`${level} ${mask.apply(text)}`),
      progress: (done, total, what) => heard.progress.push(`${done}/${total} ${what}`),
      identify: identity => heard.identities.push(identity),
      usage: () => undefined,
    },
    signal,
    reaper,
    starters,
    lentSlots: undefined,
    guard,
    mask,
  };
  const close = (): void => {
    starters.close();
    reaper.close();
  };
  return { order, heard, kept, close };
}

function partStoreThatStores(kept: string[]): RunPartStore {
  return {
    find: async question => ({ kind: 'missing', ticket: digestBytes(question.name) }),
    async keep(_ticket, at, names) {
      kept.push(...names);
      return Object.fromEntries(names.map(name => [name, join(at, name)]));
    },
    drop: () => undefined,
    release: () => undefined,
    used: new Set(),
  };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
