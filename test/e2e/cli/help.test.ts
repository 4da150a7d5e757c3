/** The help of every command: found from the top, complete, and no wider than 80 columns. */
import { type CliWorld, givenProject } from '../../support/cli-world.js';

const WIDTH = 80;

let world: CliWorld;
beforeAll(() => {
  world = givenProject({});
});
afterAll(() => world.remove());

/** A command of an example is copied as one line. */
function isCommandLine(line: string): boolean {
  return /^ {2}(?:\w+ {2,})?tanren \S/.test(line);
}

/** Names of the commands below `words`, from its help; examples after the options do not count. */
function commandsIn(help: string): readonly string[] {
  const section = /^Commands:\n((?: .*\n|\n(?= {2}))*)/m.exec(help)?.[1] ?? '';
  return [...section.matchAll(/^ {2}([a-z-]+)/gm)].map(match => match[1] ?? '').filter(name => name !== 'help');
}

function check(words: readonly string[]): readonly string[] {
  const { exitCode, stdout, stderr } = world.run(...words, '--help');
  const name = ['tanren', ...words].join(' ');
  const wide = stdout.split('\n').filter(line => line.length > WIDTH && !isCommandLine(line));
  const below = commandsIn(stdout);
  return [
    ...(exitCode === 0 && stderr === '' ? [] : [`${name}: exit code ${exitCode}, ${stderr}`]),
    ...(stdout.startsWith(`Usage: ${name}`) ? [] : [`${name}: no usage`]),
    ...(/^Usage: .*\n\n\S.*/.test(stdout) ? [] : [`${name}: no description`]),
    ...(/default: (\[\]|\{\}|undefined)/.test(stdout) ? [`${name}: an empty default`] : []),
    ...wide.map(line => `${name}: ${line.length} columns: ${line}`),
    ...below.flatMap(child => check([...words, child])),
  ];
}

it('states usage and description of every command in 80 columns', () => {
  const top = commandsIn(world.run('--help').stdout);
  expect(top).toEqual(expect.arrayContaining(['build', 'watch', 'history', 'onnx', 'coco', 'cache']));
  expect(check([])).toEqual([]);
}, 120_000);

it('of an unknown option names the next step', () => {
  for (const command of ['build', 'history', 'init', 'plugins'])
    expect(world.run(command, '--jsno')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(/^error\[unknown-option\]: .*\n {2}help: /),
    });
}, 30_000);
