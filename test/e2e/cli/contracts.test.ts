/** What scripts may rely on: JSON alone on stdout, exit codes, read-only commands that write nothing, and nothing left behind. */
import { readdirSync, readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { formatPipelineSchema } from '../../../src/cli/commands/project/schema.js';
import { type CliWorld, givenProject, TEXT_PROJECT } from '../../support/cli-world.js';
import { DIST } from '../../support/world.js';

let world: CliWorld;
afterEach(() => world.remove());

interface Report {
  readonly conclusion: string;
  readonly stages: readonly { readonly stage: string; readonly outcome: { readonly kind: string } }[];
  readonly gates: readonly unknown[];
}

/** Builds, and says how each stage ended. */
function outcomesOf(...args: readonly string[]): Record<string, string> {
  const report = JSON.parse(world.run('build', '--json', ...args).stdout) as Report;
  return Object.fromEntries(report.stages.map(({ stage, outcome }) => [stage, outcome.kind]));
}

describe('--json', () => {
  beforeEach(() => {
    world = givenProject(TEXT_PROJECT);
  });

  it.each([
    [['build']],
    [['build', '--dry-run']],
    [['status']],
    [['explain', 'shout']],
    [['explain', 'count']],
    [['graph']],
    [['plugins']],
  ])('%j: stdout is one document, and what people read is on stderr', args => {
    const { exitCode, stdout } = world.run(...args, '--json');
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toBeInstanceOf(Object);
    expect(stdout).toBe(`${JSON.stringify(JSON.parse(stdout), null, 2)}\n`);
  });

  it.each([['build'], ['status'], ['graph'], ['explain']])('%s: a wrong pipeline file is a document of diagnostics', command => {
    world.write('pipeline.yaml', TEXT_PROJECT['pipeline.yaml'].replace('uses: command', 'uses: comand'));
    const { exitCode, stdout, stderr } = world.run(command, '--json', ...(command === 'explain' ? ['shout'] : []));

    expect(JSON.parse(stdout)).toEqual({
      diagnostics: [
        {
          severity: 'error',
          code: 'unknown-plugin',
          message: 'stage "shout" uses unknown plugin "comand"',
          help: 'did you mean "command"?',
          file: 'pipeline.yaml',
          line: 6,
          column: 11,
          endLine: 6,
          endColumn: 17,
        },
      ],
    });
    expect(stderr).toContain('pipeline.yaml:6:11: error[unknown-plugin]');
    expect(exitCode).toBe(2);
  });

  it('names every unknown target in one document', () => {
    const { exitCode, stdout } = world.run('status', 'cuont', 'shuot', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      diagnostics: [{ message: 'unknown stage "cuont"' }, { message: 'unknown stage "shuot"' }],
    });
    expect(exitCode).toBe(2);
  });

  it('lists failures and missed gates in the report', () => {
    world.write('pipeline.yaml', TEXT_PROJECT['pipeline.yaml'].replace('tr a-z A-Z', 'exit 3;'));
    const { exitCode, stdout } = world.run('build', '--json', '--keep-going', '-p', 'least=9');
    expect(JSON.parse(stdout)).toMatchObject({
      conclusion: 'failed',
      stages: expect.arrayContaining([
        expect.objectContaining({
          stage: 'shout',
          outcome: { kind: 'failed', failure: expect.objectContaining({ code: 'command-failed' }) },
        }),
      ]),
      gates: [{ stage: 'judge', metric: 'quality.words', operator: '>=', bound: 9, value: 3, verdict: 'missed' }],
    });
    expect(exitCode).toBe(1);
  });
});

describe('a result that is redirected', () => {
  it('contains no warning about the pipeline file', () => {
    world = givenProject({ ...TEXT_PROJECT, 'pipeline.yaml': TEXT_PROJECT['pipeline.yaml'].replace('params: {', 'params: {spare: 1, ') });
    const { stdout, stderr } = world.run('graph', '--format', 'dot', 'shout');
    expect(stdout).toBe('digraph "pipeline" {\n  rankdir=LR;\n  "shout" [label="shout\\ncommand"];\n}\n');
    expect(stderr).toContain('warning[unused-param]: nothing uses the parameter "spare"');
  });

  it.each([
    ['plain without a terminal', {}, false],
    ['coloured with FORCE_COLOR', { NO_COLOR: '', FORCE_COLOR: '1' }, true],
    ['plain with FORCE_COLOR and NO_COLOR', { NO_COLOR: '1', FORCE_COLOR: '1' }, false],
  ])('is %s', (_what, environment, coloured) => {
    world = givenProject(TEXT_PROJECT, { NO_COLOR: '', ...environment });
    expect(world.run('status').stdout.includes('\u001b[')).toBe(coloured);
    expect(world.run('status', 'nope').stderr.includes('\u001b[')).toBe(coloured);
  });

  it('with a closed reader does not stop a build, but ends watch', async () => {
    world = givenProject(TEXT_PROJECT);
    const build = world.start('build');
    build.closeOutput();
    expect(await build.ended).toBe(0);
    expect(world.read('artifacts/shout/text')).toBe('FORGE\nupper\n');

    const watch = world.start('watch');
    watch.closeOutput();
    expect(await watch.ended).toBe(130);
  });
});

describe('arguments', () => {
  beforeEach(() => {
    world = givenProject(TEXT_PROJECT);
  });

  it.each([
    [['log'], 'missing-argument'],
    [['build', '-f'], 'option-missing-argument'],
    [['schema', 'extra'], 'excess-arguments'],
    [['build', '-j', '0'], 'invalid-argument'],
    [['build', '--no-such'], 'unknown-option'],
    [['bulid'], 'unknown-command'],
  ])('%j are refused as %s, with nothing on stdout', (args, code) => {
    const { exitCode, stdout, stderr } = world.run(...args);
    expect(stderr).toMatch(new RegExp(`^error\\[${code}\\]: .*\\n  help: .*\\n$`));
    expect([exitCode, stdout]).toEqual([2, '']);
  });

  it('without a command print the help to stderr with exit code 2, so that a script notices a lost argument', () => {
    const { exitCode, stdout, stderr } = world.run();
    expect(stderr).toContain('Usage: tanren [options] [command]');
    expect([exitCode, stdout]).toEqual([2, '']);
  });

  it('of init with an impossible path are refused', () => {
    world.write('file', '');
    const { exitCode, stderr } = world.run('init', '-f', 'file/pipeline.yaml');
    expect(stderr).toMatch(/^error\[not-writable\]: file\/pipeline\.yaml: /);
    expect(exitCode).toBe(2);
  });
});

describe('a read-only command', () => {
  const LOOKING = [
    ['status'],
    ['build', '--dry-run'],
    ['build', '--dry-run', '--force'],
    ['explain', 'shout'],
    ['graph'],
    ['log', 'shout'],
  ];

  it('writes nothing, before a build and after an edit', () => {
    world = givenProject(TEXT_PROJECT);
    const before = world.listing();
    for (const args of LOOKING) world.run(...args);
    expect(world.listing()).toEqual(before);

    world.run('build');
    world.write('notes.txt', 'other\n');
    const built = world.listing();
    for (const args of LOOKING) expect(world.run(...args).exitCode).toBe(0);
    expect(world.listing()).toEqual(built);
  });

  it('writes as little as a build that has nothing to do', () => {
    world = givenProject(TEXT_PROJECT);
    world.run('build');
    const built = world.listing();
    expect(world.run('build').stdout).toContain('nothing to do');
    expect(world.listing()).toEqual(built);
  });
});

describe('explain', () => {
  it('names the parameter that changed, with both values, and undecided stages', () => {
    world = givenProject({
      ...TEXT_PROJECT,
      'pipeline.yaml': TEXT_PROJECT['pipeline.yaml'].replace(
        'shell: sh, inputs: {text: in.txt}, outputs: {text',
        'env: {MODE: "${mode}"}, shell: sh, inputs: {text: in.txt}, outputs: {text',
      ),
    });
    world.run('build');
    const { stdout } = world.run('explain', 'shout', 'count@lines', '-p', 'mode=lower');
    expect(stdout).toContain('shout  would run\n');
    expect(stdout).toContain('params.env.MODE: "upper" → "lower"');
    expect(stdout).toContain('count@lines  depends on the result of shout');
  });
});

describe('gates', () => {
  it('are checked for stages that are up to date, and are not part of any key', () => {
    world = givenProject(TEXT_PROJECT);
    expect(world.run('build').exitCode).toBe(0);

    const missed = world.run('build', '-p', 'least=4');
    expect(missed.stdout).toMatch(/✗ gate judge: quality\.words >= 4: 3 missed/);
    expect(missed.stdout).toContain('built, but a gate was missed: 4 up to date');
    expect(missed.exitCode).toBe(1);
    expect(world.run('build').exitCode).toBe(0);
  });
});

describe('--keep-going', () => {
  it('runs all stages that do not depend on the failed stage; without it no further stage starts', () => {
    world = givenProject({ ...TEXT_PROJECT, 'pipeline.yaml': TEXT_PROJECT['pipeline.yaml'].replace('tr a-z A-Z', 'exit 3;') });
    expect(outcomesOf('--jobs', '1')).toEqual({ shout: 'failed', 'count@bytes': 'skipped', 'count@lines': 'skipped', judge: 'skipped' });
    expect(outcomesOf('--jobs', '1', '--keep-going')).toEqual({
      shout: 'failed',
      'count@bytes': 'skipped',
      'count@lines': 'skipped',
      judge: 'executed',
    });
  });
});

const say = (word: string): string => `
import { writeFileSync } from 'node:fs';
import { word } from './word.js';
export const say = {
  name: 'say', version: 1, description: 'Says a word.', determinism: 'exact', runsModels: 'never',
  params: { type: 'object', additionalProperties: false, properties: {} },
  inputs: {}, outputs: { text: { kind: 'file', optional: false, entries: undefined, entryKinds: {}, description: '' } },
  run: async ({ outputs }) => writeFileSync(outputs.text, '${word} ' + word),
};
`;

describe("a third party's plugin", () => {
  const project = {
    'package.json': '{"type": "module"}',
    'plugins/word.js': "export const word = 'iron';\n",
    'plugins/unused.js': 'export const unused = 1;\n',
    'plugins/say.js': say('hot'),
    'pipeline.yaml': 'version: 1\nplugins: {say: ./plugins/say.js}\nstages:\n  say: {uses: say}\n',
  };

  it('runs again after an edit of it or of a module that it imports, and is restored when the edit is reverted', () => {
    world = givenProject(project);
    expect(outcomesOf()).toEqual({ say: 'executed' });
    expect(outcomesOf()).toEqual({ say: 'up-to-date' });

    world.write('plugins/word.js', "export const word = 'steel';\n");
    expect(world.run('explain', 'say').stdout).toContain('the code of say changed: word.js');
    expect(outcomesOf()).toEqual({ say: 'executed' });
    expect(world.read('artifacts/say/text')).toBe('hot steel');

    world.write('plugins/say.js', say('cold'));
    expect(outcomesOf()).toEqual({ say: 'executed' });
    expect(world.read('artifacts/say/text')).toBe('cold steel');

    world.write('plugins/say.js', say('hot'));
    expect(outcomesOf()).toEqual({ say: 'restored' });
    expect(world.read('artifacts/say/text')).toBe('hot steel');

    world.write('plugins/unused.js', 'export const unused = 2;\n');
    expect(outcomesOf()).toEqual({ say: 'up-to-date' });
  });

  it.each([
    ['has a mistake', 'export const = 3;', /error\[plugin-load\]: plugin "say" does not load: /],
    ['is not there', undefined, /error\[plugin-load\]: plugin "say" does not load: /],
    ['declares another one', say('x').replace("name: 'say'", "name: 'tell'"), /declares "tell"; use that name in the pipeline file/],
    ['declares none', 'export const x = 1;', /exports no plugin/],
  ])('that %s is a diagnostic at its place', (_what, text, message) => {
    const { 'plugins/say.js': _old, ...rest } = project;
    world = givenProject(text === undefined ? rest : { ...rest, 'plugins/say.js': text });
    const { exitCode, stderr } = world.run('build');
    expect(stderr).toMatch(/^pipeline\.yaml:2:16: /);
    expect(stderr).toMatch(message);
    expect(exitCode).toBe(2);
  });

  it('that breaks an internal invariant exits with 70, and reports where', () => {
    const { href } = pathToFileURL(join(DIST, 'src/base/invariant.js'));
    const broken = say('hot').replace(
      "writeFileSync(outputs.text, 'hot ' + word)",
      "{ throw new InternalError('two and two is ' + word) }",
    );
    world = givenProject({ ...project, 'plugins/say.js': `import { InternalError } from '${href}';${broken}` });
    const { exitCode, stdout } = world.run('build');
    expect(stdout).toContain('error[internal]: say: two and two is iron\n  at ');
    expect(exitCode).toBe(70);
  });
});

describe('schema and plugins', () => {
  beforeEach(() => {
    world = givenProject({});
  });

  it('print the published schema, and every plugin with ports and parameters, without a pipeline file', () => {
    expect(world.run('schema')).toEqual({ exitCode: 0, stdout: formatPipelineSchema(), stderr: '' });
    const { exitCode, stdout } = world.run('plugins');
    for (const name of ['export', 'split', 'simplify', 'rewrite', 'verify', 'calibrate', 'quantize', 'evaluate', 'command'])
      expect(stdout).toMatch(new RegExp(`^${name}  .+\\n  inputs   .+\\n  outputs  .+\\n`, 'm'));
    expect(stdout).toContain('  preset');
    expect(exitCode).toBe(0);
  });
});

describe('Ctrl-C', () => {
  it.each<[NodeJS.Signals, number]>([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ])('%s: nothing that was started is left, no result is taken, and the next build is right', async (signal, code) => {
    world = givenProject({});
    const [started, go] = [world.makePipe('started'), world.makePipe('go')];
    const script = `echo $$ > ${started}; cat ${go} > out.txt; echo half >> out.txt`;
    const pipeline = (text: string): string =>
      `version: 1\nstages:\n  wait:\n    uses: command\n    with: {run: [${JSON.stringify(text)}], shell: sh, outputs: {text: out.txt}}\n`;
    world.write('pipeline.yaml', pipeline(script));
    const build = world.start('build');
    const pid = Number(await readFile(started, 'utf8'));
    expect(processesOf(world.folder)).toContain(pid);
    build.signal(signal);

    expect(await build.ended).toBe(code);
    expect(build.output()).toMatch(/cancelled: 1 cancelled/);
    for (let turn = 0; processesOf(world.folder).length > 0 && turn < 10_000; turn++) await nextTurn();
    expect(processesOf(world.folder)).toEqual([]);
    expect([world.exists('artifacts/wait'), readdirSync(join(world.folder, 'cache/tmp'))]).toEqual([false, []]);

    world.write('pipeline.yaml', pipeline('echo whole > out.txt'));
    expect(world.run('build').exitCode).toBe(0);
    expect(world.read('artifacts/wait/text')).toBe('whole\n');
  });
});

describe('a second Ctrl-C', () => {
  it('ends at once and kills processes that ignore signals', async () => {
    world = givenProject({});
    const started = world.makePipe('started');
    const script = JSON.stringify(`trap '' TERM; (trap '' TERM; sleep 60) & echo $$ > ${started}; while :; do sleep 1; done`);
    world.write(
      'pipeline.yaml',
      `version: 1\nstages: {wait: {uses: command, with: {run: [${script}], shell: sh, outputs: {text: out.txt}}}}\n`,
    );
    const build = world.start('build');
    await readFile(started, 'utf8');
    build.signal('SIGINT');
    build.signal('SIGTERM');

    // Which of two signals that are sent together arrives first is the kernel's business.
    expect([130, 143]).toContain(await build.ended);
    expect(build.output()).not.toContain('ended-early');
    for (let turn = 0; processesOf(world.folder).length > 0 && turn < 10_000; turn++) await nextTurn();
    expect(processesOf(world.folder)).toEqual([]);
    expect(world.run('status').exitCode).toBe(0);
  });
});

describe('two commands at once', () => {
  it('run one after the other: clean reports the wait, and Ctrl-C ends it', async () => {
    world = givenProject({});
    const [started, go] = [world.makePipe('started'), world.makePipe('go')];
    const script = JSON.stringify(`echo $$ > ${started}; cat ${go} > out.txt`);
    world.write(
      'pipeline.yaml',
      `version: 1\nstages: {wait: {uses: command, with: {run: [${script}], shell: sh, outputs: {text: out.txt}}}}\n`,
    );
    const build = world.start('build');
    await readFile(started, 'utf8');

    const clean = world.start('clean');
    await clean.waitFor('waiting for ');
    // Milliseconds, or seconds on a busy machine.
    const said = await clean.waitFor('s\n');
    expect(said).toMatch(
      /^"tanren build" \(process \d+ of \S+ on \S+\), which has used \S+cache since 2\d{3}-\d\d-\d\dT\d\d:\d\d:\d\dZ, for /,
    );
    clean.signal('SIGINT');
    expect(await clean.ended).toBe(130);
    expect(world.run('status').stdout).toContain('wait  would run: never built');

    await writeFile(go, 'done');
    expect(await build.ended).toBe(0);
    expect(world.read('artifacts/wait/text')).toBe('done');
  });
});

/** Process numbers of those whose command line names `folder`. */
function processesOf(folder: string): readonly number[] {
  return readdirSync('/proc').flatMap(name => {
    if (!/^\d+$/.test(name)) return [];
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(folder) ? [Number(name)] : [];
    } catch {
      return []; // it has just ended
    }
  });
}
