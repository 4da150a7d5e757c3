/** Each command does, prints and returns what docs/cli.md says. */
import { type CliWorld, givenProject, TEXT_PROJECT } from '../../support/cli-world.js';

/** Durations differ from run to run. */
const withoutTimes = (text: string): string => text.replace(/\d+(\.\d+)? (ms|s)\b/g, 'TIME');
const editPipeline = (world: CliWorld, change: (text: string) => string): void =>
  world.write('pipeline.yaml', change(world.read('pipeline.yaml')));

describe('the command line', () => {
  let world: CliWorld;
  beforeEach(() => {
    world = givenProject(TEXT_PROJECT);
  });
  afterEach(() => world.remove());

  it('builds everything, and prints metrics, gates, artifacts and a summary', () => {
    const { exitCode, stdout } = world.run('build', '--jobs', '1');

    expect(stdout).toContain('quality.words  3');
    expect(stdout).toContain('✓ gate judge: quality.words >= 1: 3');
    expect(stdout).toContain('artifacts are in artifacts/<stage>/');
    expect(withoutTimes(stdout)).toContain('built: 4 executed (TIME)');
    expect(exitCode).toBe(0);
    expect(world.read('artifacts/shout/text')).toBe('FORGE\nupper\n');
    expect(world.read('artifacts/count@lines/number')).toContain('2');
  });

  it('reports on a second build that there is nothing to do, and how many stages are up to date', () => {
    world.run('build');
    const { exitCode, stdout } = world.run('build');

    expect(withoutTimes(stdout)).toContain('nothing to do: 4 stages up to date (TIME)');
    expect(stdout).not.toContain('▸');
    expect(exitCode).toBe(0);
  });

  it('runs with -p only the stages that use the parameter and their dependents', () => {
    world.run('build');
    const { stdout } = world.run('build', '-p', 'mode=lower', '--json');
    const report = JSON.parse(stdout) as { stages: { stage: string; outcome: { kind: string } }[] };

    expect(Object.fromEntries(report.stages.map(({ stage, outcome }) => [stage, outcome.kind]))).toEqual({
      shout: 'executed',
      'count@bytes': 'executed',
      'count@lines': 'executed',
      judge: 'up-to-date',
    });
  });

  it('reads parameters from a file, and -p overrides them', () => {
    world.write('more.yaml', 'mode: from-file\nleast: 2\n');
    world.run('build', '--params-file', 'more.yaml', '-p', 'mode=from-line', 'shout');

    expect(world.read('artifacts/shout/text')).toBe('FORGE\nfrom-line\n');
  });

  it('builds a target given as an instance or a group, with its dependencies and nothing else', () => {
    world.run('build', 'count@lines');
    expect([world.exists('artifacts/count@lines'), world.exists('artifacts/count@bytes')]).toEqual([true, false]);

    world.run('build', 'count');
    expect([world.exists('artifacts/count@bytes'), world.exists('artifacts/judge')]).toEqual([true, false]);
  });

  it('refuses an unknown target and suggests the closest name', () => {
    const { exitCode, stdout, stderr } = world.run('build', 'cuont');

    expect(stderr).toBe('error[unknown-stage]: unknown stage "cuont"\n  help: did you mean "count"?\n1 error: nothing was built\n');
    expect(stdout).toBe('');
    expect(exitCode).toBe(2);
  });

  it('says of a command that builds nothing how many errors there are, and no more', () => {
    const { exitCode, stderr } = world.run('status', 'cuont');
    expect([exitCode, stderr]).toEqual([2, 'error[unknown-stage]: unknown stage "cuont"\n  help: did you mean "count"?\n1 error\n']);
  });

  it('lists named plugins', () => {
    const { exitCode, stdout } = world.run('plugins', 'quantize', 'import');
    expect([exitCode, stdout.match(/^[a-z]\S+(?= {2})/gm)]).toEqual([0, ['import', 'quantize']]);
    expect(JSON.parse(world.run('plugins', 'bench', '--json').stdout)).toMatchObject([{ name: 'bench' }]);
    expect(world.run('plugins', 'quantise')).toMatchObject({
      exitCode: 2,
      stderr: 'error[unknown-plugin]: no built-in plugin is named "quantise"\n  help: did you mean "quantize"?\n1 error\n',
    });
  });

  it('exits with 1 if a gate is missed, prints metric, value, bound and location, and keeps the artifacts', () => {
    const { exitCode, stdout } = world.run('build', '-p', 'least=4');

    expect(stdout).toMatch(/✗ gate judge: quality\.words >= 4: 3 missed \(pipeline\.yaml:\d+:\d+\)/);
    expect(withoutTimes(stdout)).toContain('built, but a gate was missed: 4 executed (TIME)');
    expect(exitCode).toBe(1);
    expect(world.exists('artifacts/judge/metrics.json')).toBe(true);
  });

  it('prints why a stage failed and the path of its log, and stops', () => {
    editPipeline(world, text => text.replace('tr a-z A-Z', 'echo no such luck; exit 3;'));
    const { exitCode, stdout } = world.run('build', 'count');

    expect(stdout).toContain('error[command-failed]: shout: ');
    expect(stdout).toContain('(tanren log shout)');
    expect(withoutTimes(stdout)).toContain('failed: 1 failed, 2 skipped (TIME)');
    expect(exitCode).toBe(1);
    expect(world.run('log', 'shout').stdout).toContain('no such luck');
  });

  it('continues with --keep-going with stages that do not depend on a failed stage', () => {
    editPipeline(world, text => text.replace('tr a-z A-Z', 'exit 3;'));
    const { exitCode } = world.run('build', '--keep-going', '--jobs', '1');

    expect(exitCode).toBe(1);
    expect(world.exists('artifacts/judge/metrics.json')).toBe(true);
  });

  it('runs the targets again with --force', () => {
    world.run('build');
    const { stdout } = world.run('build', 'judge', '--force');

    expect(withoutTimes(stdout)).toContain('built: 1 executed (TIME)');
  });

  it.each([['build', '--dry-run'], ['status']])('%s %s says what would run, and writes nothing', (...args) => {
    const { exitCode, stdout } = world.run(...args);

    expect(stdout).toContain('shout        would run');
    expect(stdout).toContain('4 of 4 stages are not up to date');
    expect(exitCode).toBe(0);
    expect([world.exists('artifacts'), world.exists('cache')]).toEqual([false, false]);
  });

  it('status --json names the other stage if two actions may be equal', () => {
    const stage = 'uses: command, with: {run: ["cat in > out"], shell: sh, inputs: {in: in}, outputs: {out: out}}';
    const other = givenProject({
      'pipeline.yaml': `version: 1\nsources: {notes: notes.txt}\nstages:\n  a: {${stage}, inputs: {in: "\${sources.notes}"}}\n  b: {${stage}, inputs: {in: "\${sources.notes}"}}\n`,
      'notes.txt': 'forge\n',
    });
    try {
      const stages = () => (JSON.parse(other.run('status', '--json').stdout) as { readonly stages: readonly unknown[] }).stages;
      expect(stages()).toMatchObject([
        { stage: 'a', kind: 'undecided', equalStage: 'b' },
        { stage: 'b', kind: 'undecided', equalStage: 'a' },
      ]);
      expect(JSON.parse(other.run('build', '--json').stdout)).toMatchObject({
        stages: [{ outcome: { kind: 'executed' } }, { outcome: { kind: 'restored' } }],
      });
      expect(stages()).toMatchObject([
        { stage: 'a', kind: 'up-to-date' },
        { stage: 'b', kind: 'up-to-date' },
      ]);
    } finally {
      other.remove();
    }
  });

  it('explains what changed since a stage ran, and reports a stage that never ran', () => {
    expect(world.run('explain', 'shout').stdout).toContain('never built');

    world.run('build');
    world.write('notes.txt', 'other\n');
    const { stdout } = world.run('explain', 'shout');
    expect(stdout).toContain('would run');
    expect(stdout).toContain('source notes.txt changed');
    expect(stdout).not.toContain('never built');
  });

  it('shows the graph as text, Mermaid, DOT and JSON', () => {
    expect(world.run('graph').stdout).toBe(
      'shout        command\ncount@bytes  command  ← shout\ncount@lines  command  ← shout\njudge        command\n',
    );
    expect(world.run('graph', '--format', 'mermaid', 'count@lines').stdout).toBe(
      'graph LR\n  shout["shout<br/>command"]\n  count_40_lines["count@lines<br/>command"]\n  shout --> count_40_lines\n',
    );
    expect(world.run('graph', '--format', 'dot', 'count@lines').stdout).toContain('"shout" -> "count@lines";');
    expect(JSON.parse(world.run('graph', '--json').stdout)).toMatchObject({ stages: [{ stage: 'shout', dependsOn: [] }, {}, {}, {}] });
  });

  it('removes only artifacts, which the next build restores; with --all also the cache; never other files', () => {
    world.run('build');
    world.write('artifacts/mine.txt', 'mine');
    world.run('clean');
    expect([world.exists('artifacts/shout'), world.exists('artifacts/mine.txt')]).toEqual([false, true]);
    expect(withoutTimes(world.run('build').stdout)).toContain('built: 4 restored (TIME)');

    world.run('clean', '--all');
    expect(withoutTimes(world.run('build').stdout)).toContain('built: 4 executed (TIME)');
    expect([world.exists('artifacts/mine.txt'), world.exists('notes.txt')]).toEqual([true, true]);
  });

  it('prints every error of the pipeline file with its location, builds nothing and exits with 2', () => {
    editPipeline(world, text => text.replace('uses: command', 'uses: comand').replace('shout.text', 'shuot.text'));
    const { exitCode, stdout, stderr } = world.run('build');

    expect(stdout).toBe('');
    expect(stderr).toBe(
      [
        'pipeline.yaml:6:11: error[unknown-plugin]: stage "shout" uses unknown plugin "comand"',
        '  6 |     uses: comand',
        '    |           ^^^^^^',
        '  help: did you mean "command"?',
        'pipeline.yaml:13:20: error[unknown-stage]: unknown stage "shuot"',
        '  13 |     inputs: {text: shuot.text}',
        '     |                    ^^^^^^^^^^',
        '  help: did you mean "shout"?',
        '2 errors: nothing was built',
        '',
      ].join('\n'),
    );
    expect(exitCode).toBe(2);
    expect(world.exists('cache')).toBe(false);
  });

  it.each([
    [['buidl'], "unknown command 'buidl'", 'did you mean "build"?'],
    [['build', '--jbos', '2'], "unknown option '--jbos'", 'did you mean "--jobs"?'],
    [['build', '--jobs', 'many'], "'many' is invalid", 'a whole number of at least 1'],
    [['graph', '--format', 'png'], "'png' is invalid", 'text, mermaid or dot'],
  ])('refuses the arguments %j', (args, message, help) => {
    const { exitCode, stderr } = world.run(...args);

    expect(stderr).toContain(message);
    expect(stderr).toContain(help);
    expect(exitCode).toBe(2);
  });

  it('reports a missing pipeline file, and how to create one', () => {
    const { exitCode, stderr } = world.run('build', '-f', 'none.yaml');

    expect(stderr).toContain('error[no-pipeline]: none.yaml: file not found\n  help: make one with "tanren init"');
    expect(exitCode).toBe(2);
  });

  it('init writes a valid file, and never overwrites a file', () => {
    expect(world.run('init').exitCode).toBe(2);
    expect(world.read('pipeline.yaml')).toBe(TEXT_PROJECT['pipeline.yaml']);

    expect(world.run('init', '-f', 'new/pipeline.yaml').exitCode).toBe(0);
    const graph = world.run('graph', '-f', 'new/pipeline.yaml');
    expect(graph.stdout).toContain('quantize@backbone');
    expect([graph.exitCode, graph.stderr]).toEqual([0, '']);
  });

  it('keeps the artifacts of pipelines/x.yaml under artifacts/x, in the project above', () => {
    world.write('pipelines/x.yaml', world.read('pipeline.yaml'));
    expect(world.run('build', '-f', 'pipelines/x.yaml', 'shout').stdout).toContain('artifacts are in artifacts/x/<stage>/');
    expect(world.read('artifacts/x/shout/text')).toBe('FORGE\nupper\n');
  });

  it('--help of every command exits with 0', () => {
    for (const command of ['build', 'watch', 'status', 'explain', 'graph', 'log', 'clean', 'init', 'schema', 'plugins'])
      expect(world.run(command, '--help')).toMatchObject({ exitCode: 0, stderr: '' });
    expect(world.run('--version').stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it('tolerates a reader that closes the pipe early', async () => {
    const process = world.start('plugins');
    process.closeOutput();

    expect(await process.ended).toBe(0);
  });
});

describe('tanren cache', () => {
  const PIPELINE = [
    'version: 1',
    'sources: {text: in.txt}',
    'stages:',
    '  size: {uses: command, with: {run: ["wc -c < in.txt > out.txt"], shell: sh, inputs: {text: in.txt}, outputs: {size: out.txt}}, inputs: {text: "${sources.text}"}}',
  ].join('\n');

  it('counts, verifies and shrinks the content of the cache', () => {
    const project = givenProject({ 'pipeline.yaml': PIPELINE, 'in.txt': 'one' });
    project.run('build');
    project.write('in.txt', 'one two');
    project.run('build');

    const before: unknown = JSON.parse(project.run('cache', 'stats', '--json').stdout);
    expect(before).toMatchObject({ records: 2, unnamedBytes: 0, by: [{ kind: 'stage', name: 'command', records: 2, accepted: 1 }] });
    expect(project.run('cache', 'verify')).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('all intact') });
    expect(project.run('cache', 'gc', '--max-size', '1B').stdout).toContain('removed 1 result');
    expect(project.run('build').stdout).toContain('nothing to do');
    project.remove();
  });

  it('prints sizes and times with units', () => {
    const project = givenProject({});
    expect(project.run('cache', 'gc', '--max-size', 'much')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('500MB or 2GB'),
    });
    project.remove();
  });
});
