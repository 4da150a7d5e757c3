/** Shell completion: Bash runs its own script; the scripts of the other shells are checked for syntax where those are installed. */
import { spawnSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { type CliWorld, givenProject, TEXT_PROJECT } from '../../support/cli-world.js';
import { DIST } from '../../support/world.js';

let world: CliWorld;
beforeAll(() => {
  world = givenProject({
    ...TEXT_PROJECT,
    'bin/tanren': `#!/bin/sh\nexec '${process.execPath}' '${join(DIST, 'bin/tanren.js')}' "$@"\n`,
    'pipelines/broken.yaml': 'version: 1\nparams: {depth: 1}\nstages:\n  dig: {uses: no-such-plugin}\n',
    'pipelines/own.yaml': 'version: 1\nplugins: {own: ../evil.mjs}\nstages:\n  mine: {uses: own}\n',
    'package.json': '{}',
    'evil.mjs': "import { writeFileSync } from 'node:fs';\nwriteFileSync('loaded', '');\n",
  });
  chmodSync(join(world.folder, 'bin/tanren'), 0o755);
  world.write('completion.bash', world.run('completion', 'bash').stdout);
});
afterAll(() => world.remove());

const has = (shell: string): boolean => spawnSync(shell, ['-c', 'exit 0']).status === 0;
const inBash = has('bash') ? it : it.skip;

/** What Bash would offer for the line. */
function complete(line: string): readonly string[] {
  const script = `COMP_WORDBREAKS=$' \\t\\n"\\'@><=;|&(:'; source completion.bash; COMP_LINE=$1; COMP_POINT=\${#1}; _tanren; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const path = `${join(world.folder, 'bin')}:${process.env.PATH}`;
  const { stdout, stderr } = spawnSync('bash', ['--norc', '--noprofile', '-c', script, 'bash', line], {
    cwd: world.folder,
    encoding: 'utf8',
    env: { PATH: path },
  });
  expect(stderr).toBe('');
  return stdout.split('\n').filter(word => word !== '');
}

describe('bash', () => {
  inBash('completes commands and their commands', () => {
    expect(complete('tanren st')).toEqual(['status']);
    expect(complete('tanren cache v')).toEqual(['verify']);
    expect(complete('tanren ')).toEqual(expect.arrayContaining(['build', 'watch', 'explain', 'completion']));
  });

  inBash('completes options, and the values that they have', () => {
    expect(complete('tanren build --dr')).toEqual(['--dry-run']);
    expect(complete('tanren graph --format ')).toEqual(['text', 'mermaid', 'dot']);
    expect(complete('tanren graph --format=m')).toEqual(['mermaid']);
    expect(complete('tanren build -p ')).toEqual(['mode=', 'least=']);
    expect(complete('tanren completion z')).toEqual(['zsh']);
  });

  inBash('completes groups and instances, also behind what ends a word for it', () => {
    expect(complete('tanren build ')).toEqual(['shout', 'count@bytes', 'count', 'count@lines', 'judge']);
    expect(complete('tanren explain shout co')).toEqual(['count@bytes', 'count', 'count@lines']);
    expect(complete('tanren build count@l')).toEqual(['lines']);
    expect(complete('tanren build -j 2 ju')).toEqual(['judge']);
  });

  inBash('completes those of the pipeline file that is named, also of one with mistakes, and runs no plugin for that', () => {
    expect(complete('tanren build -f pipelines/broken.yaml ')).toEqual(['dig']);
    expect(complete('tanren build --file=pipelines/broken.yaml -p ')).toEqual(['depth=']);
    expect(complete('tanren build -f pipelines/own.yaml ')).toEqual(['mine']);
    expect(world.exists('loaded')).toBe(false);
    expect(complete('tanren build -f nowhere.yaml ')).toEqual([]);
  });

  inBash('completes runs of the history', () => {
    expect(complete('tanren profile ')).toEqual([]);
    world.run('build');
    expect(complete('tanren profile ')).toEqual(['r1']);
  });
});

it.each([
  ['bash', ['-n']],
  ['zsh', ['-n']],
  ['fish', ['--no-execute']],
])('the script of %s is one', (shell, args) => {
  const script = world.run('completion', shell).stdout;
  world.write(`completion.${shell}`, script);
  expect(script).toContain('__complete');
  if (has(shell)) expect(spawnSync(shell, [...args, join(world.folder, `completion.${shell}`)], { encoding: 'utf8' }).stderr).toBe('');
});
