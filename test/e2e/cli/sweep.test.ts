/** `tanren sweep` on the built command line: what is shared runs once, failures are rows, a killed sweep continues, and the pipeline's own files stay. */

import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SWEEP_DOCUMENT, type SweepDocument } from '../../../src/report/sweep-document.js';
import { type CliWorld, givenProject } from '../../support/cli-world.js';
import { parseDocument } from '../../support/parse-document.js';

let world: CliWorld;
afterEach(() => world.remove());

/** `prepare` is the same everywhere; `shrink` makes a model of SIZE bytes; `measure` reads its size. Each run adds a line to runs.log. */
function givenShrinking(more = ''): CliWorld {
  const made = givenProject({ 'notes.txt': 'the iron is hot\n', 'runs.log': '' });
  const log = `echo "$WHAT" >> ${join(made.folder, 'runs.log')};`;
  made.write(
    'pipeline.yaml',
    `version: 1
params: {mode: plain, least: 3}
sources: {notes: notes.txt}
${more}stages:
  prepare:
    uses: command
    with: {run: ['${log} cp in.txt out.txt'], shell: sh, env: {WHAT: prepare}, inputs: {text: in.txt}, outputs: {text: out.txt}}
    inputs: {text: "\${sources.notes}"}
  shrink:
    uses: command
    with:
      run: ['${log} [ "$MODE" != wait ] || cat ${join(made.folder, 'go')}; [ "$SIZE" != 3 ] || exit 4; head -c "$SIZE" in.txt > m.onnx']
      shell: sh
      env: {WHAT: shrink, SIZE: "8", MODE: "\${mode}"}
      inputs: {text: in.txt}
      outputs: {model: {path: m.onnx, kind: onnx-model}}
    inputs: {text: prepare.text}
  measure:
    uses: command
    with:
      run: ['${log} n=$(wc -c < m.onnx); printf "{\\"total\\": {\\"estimatedMs\\": %d}, \\"bbox\\": {\\"AP\\": 0.%d}}" "$n" "$n" > metrics.json']
      shell: sh
      env: {WHAT: measure}
      inputs: {model: m.onnx}
      outputs: {metrics: {path: metrics.json, kind: metrics}}
    inputs: {model: shrink.model}
    gate: {bbox.AP: ">= 0.\${least}"}
`,
  );
  return made;
}

const runs = (): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const line of world.read('runs.log').split('\n').filter(Boolean)) counts[line] = (counts[line] ?? 0) + 1;
  return counts;
};

const rowsOf = (stdout: string): SweepDocument['configurations'] => parseDocument(SWEEP_DOCUMENT, JSON.parse(stdout)).configurations;

describe('a sweep', () => {
  it('runs what configurations share once, and ranks the rows', () => {
    world = givenShrinking();
    const { exitCode, stdout } = world.run('sweep', '-m', 'shrink.env.SIZE=2,5,8', '--json');

    expect(exitCode).toBe(0);
    expect(rowsOf(stdout)).toMatchObject([
      { number: 3, params: { 'shrink.env.SIZE': '8' }, status: 'built', onFront: true, metrics: { 'measure.bbox.AP': 0.8 }, sizeBytes: 8 },
      { number: 2, status: 'built', onFront: true, metrics: { 'measure.total.estimatedMs': 5 } },
      { number: 1, status: 'gate-missed', gatesMissed: ['measure.bbox.AP'], onFront: true, sizeBytes: 2 },
    ]);
    expect(runs()).toEqual({ prepare: 1, shrink: 3, measure: 3 });
  });

  it('runs nothing that a build has made, and a stage that gets equal bytes runs once', () => {
    world = givenShrinking();
    world.run('build');
    const { exitCode, stdout } = world.run('sweep', '-m', 'mode=plain,fast', '-m', 'shrink.env.SIZE=5,8', '--json');

    expect(exitCode).toBe(0);
    expect(rowsOf(stdout).map(({ params, status }) => [params, status])).toEqual([
      [{ mode: 'plain', 'shrink.env.SIZE': '8' }, 'built'],
      [{ mode: 'fast', 'shrink.env.SIZE': '8' }, 'built'],
      [{ mode: 'plain', 'shrink.env.SIZE': '5' }, 'built'],
      [{ mode: 'fast', 'shrink.env.SIZE': '5' }, 'built'],
    ]);
    // 8 bytes in mode plain are the pipeline as it stands; measure sees 5 bytes once.
    expect(runs()).toEqual({ prepare: 1, shrink: 4, measure: 2 });
  });

  it('leaves artifacts, lock file, history and the answer of the next build as they are', () => {
    world = givenShrinking();
    world.run('build');
    const kept = () =>
      ['pipeline.lock', 'artifacts/.tanren', 'artifacts/measure/metrics.json', 'cache/history/pipeline.log'].map(name => world.read(name));
    const before = kept();
    const shown = readdirSync(join(world.folder, 'artifacts'));
    world.run('sweep', '-m', 'shrink.env.SIZE=2,5');

    expect(kept()).toEqual(before);
    expect(readdirSync(join(world.folder, 'artifacts'))).toEqual(shown);
    expect(existsSync(join(world.folder, 'cache/state/.sweep-pipeline.log'))).toBe(false);
    expect(world.run('build').stdout).toContain('nothing to do: 3 stages up to date');
  });

  it('a configuration that fails is a row, and the others are built', () => {
    world = givenShrinking();
    const { exitCode, stdout } = world.run('sweep', '-m', 'shrink.env.SIZE=3,5', '--json');

    expect(exitCode).toBe(1);
    expect(rowsOf(stdout)).toMatchObject([
      { number: 2, status: 'built', onFront: true },
      { number: 1, status: 'failed', onFront: false, metrics: {}, problems: [{ stage: 'shrink', code: 'command-failed' }] },
    ]);
    expect(world.run('sweep', '-m', 'shrink.env.SIZE=3,5').stdout).toContain(
      'error[command-failed]: shrink: sh ended with exit code 4 without output (3)',
    );
  });

  it('a combination that makes no valid pipeline is a row; a value that no configuration accepts ends the sweep before anything runs', () => {
    world = givenShrinking();
    const both = world.run('sweep', '-m', 'shrink.shell=none,sh', '-m', 'shrink.run=["a", "b"],["echo x > m.onnx"]', '--json');
    expect(rowsOf(both.stdout).map(({ status }) => status)).toContain('refused');
    expect(both.exitCode).toBe(1);
    world.write('runs.log', '');

    const { exitCode, stdout, stderr } = world.run('sweep', '-m', 'mode=a,b', '-m', 'shrink.shell=sh,bash');
    expect(stderr).toContain('error[bad-setting]: shrink.shell=bash: "shell" of stage "shrink" is "bash"; expected one of "none", "sh"');
    expect([exitCode, stdout, runs()]).toEqual([2, '', {}]);
  });

  it.each([
    [['-m', 'mdoe=a,b'], 'error[unknown-axis]: "mdoe" is neither a parameter'],
    [['-m', 'env.SIZE=a,b'], 'error[ambiguous-axis]: several stages have a setting "env"'],
    [['-m', 'shrink.evn.SIZE=a,b'], '"shrink" has no "evn"'],
    [['-m', 'least=1,x'], 'error[bad-param]: least=x: parameter "least" is "x"; expected an integer'],
    [['-m', 'mode=a,a'], 'error[bad-axis]: "mode" has the value a twice'],
    [['-m', 'mode=a', '-m', 'mode=b'], 'error[bad-axis]: "mode" is given twice'],
    [['-m', 'shrink.env={SIZE: "1"}', '-m', 'shrink.env.SIZE=2'], '"shrink.env" and "shrink.env.SIZE" set the same setting'],
    [['prepare', '-m', 'mode=a,b', '-o', 'x.txt'], 'error[sweep-format]'],
    [['-m', `mode=${Array.from({ length: 1001 }, (_, i) => i).join(',')}`], 'error[too-many-configurations]'],
    [[], 'error[bad-axis]: a sweep needs at least one axis'],
  ])('%j is refused before anything runs', (args, message) => {
    world = givenShrinking();
    const { exitCode, stderr } = world.run('sweep', ...args);
    expect(stderr).toContain(message);
    expect([exitCode, runs()]).toEqual([2, {}]);
  });

  it('an unknown metric is an error after the table', () => {
    world = givenShrinking();
    const { exitCode, stdout, stderr } = world.run('sweep', '-m', 'shrink.env.SIZE=5,8', '--maximize', 'bbox.PA');
    expect(stderr).toContain('error[unknown-metric]: no configuration has a metric "bbox.PA"\n  help: did you mean "bbox.AP"?');
    expect(stdout).toContain('shrink.env.SIZE');
    expect(stderr).not.toContain('nothing was built');
    expect(exitCode).toBe(2);
  });

  it('takes its axes from the file, and its order from --minimize', () => {
    world = givenShrinking('sweep: {shrink.env.SIZE: ["5", "8"], mode: [plain]}\n');
    const { stdout } = world.run('sweep', '--json', '--minimize', 'size');
    expect(rowsOf(stdout).map(({ params }) => params)).toEqual([
      { 'shrink.env.SIZE': '5', mode: 'plain' },
      { 'shrink.env.SIZE': '8', mode: 'plain' },
    ]);
  });

  it('gives equal bytes of JSON and CSV for any number of jobs, and from the cache', () => {
    world = givenShrinking();
    const sweep = (name: string, ...more: readonly string[]) => {
      world.run('sweep', '-m', 'mode=a,"b,c"', '-m', 'shrink.env.SIZE=3,5,8', '-o', `${name}.csv`, '-o', `${name}.json`, ...more);
      return [world.read(`${name}.csv`), world.read(`${name}.json`)];
    };
    const first = sweep('one', '--jobs', '1');
    expect(first[0]?.split('\n').slice(0, 2)).toEqual([
      'number,status,onFront,mode,shrink.env.SIZE,measure.bbox.AP,measure.total.estimatedMs,sizeBytes,problem',
      '3,built,true,a,8,0.8,8,8,',
    ]);
    expect(first[0]).toContain('"""b,c"""');
    expect(sweep('two')).toEqual(first);
    world.run('cache', 'gc');
    expect(sweep('three', '--jobs', '4')).toEqual(first);
  });

  it('continues after it was killed: what had ended does not run again', async () => {
    world = givenShrinking();
    const pipe = world.makePipe('go');
    const args = ['sweep', '-m', 'mode=plain,wait', '--jobs', '4'];
    const killed = world.start(...args);
    await killed.waitFor('✓ measure~1');
    killed.signal('SIGKILL');
    await killed.ended;
    const before = runs();
    expect(before).toMatchObject({ prepare: 1, measure: 1 });

    const again = world.start(...args);
    await again.waitFor('▸ shrink~2');
    writeFileSync(pipe, 'go\n');
    expect(await again.ended).toBe(0);
    expect(runs()).toEqual({ prepare: 1, shrink: (before.shrink ?? 0) + 1, measure: 1 });
  });

  it('Ctrl-C ends it with 130, and its rows say what is missing', async () => {
    world = givenShrinking();
    world.makePipe('go');
    const stopped = world.start('sweep', '-m', 'mode=plain,wait', '--jobs', '4');
    await stopped.waitFor('✓ measure~1');
    stopped.signal('SIGINT');
    expect(await stopped.ended).toBe(130);
    expect(stopped.output()).toMatch(/plain\s+0\.8000.*built/);
    expect(stopped.output()).toMatch(/wait\s+–.*interrupted/);
  });
});
