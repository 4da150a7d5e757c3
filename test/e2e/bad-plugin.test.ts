/** Mistakes of third-party plugins give one clear error each and never a successful build without its result; with the plugin corrected, the next build is right. */
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { type CliWorld, givenProject } from '../support/cli-world.js';
import { PROJECT } from '../support/shapes-project.js';

const PIPELINE = `version: 1
sources: {text: notes.txt}
plugins: {bad: ./bad.mjs}
stages:
  act: {uses: bad, inputs: {text: "\${sources.text}"}}
`;
const WRITES = "await writeFile(outputs.out, 'right');";

interface Plugin {
  readonly top?: string;
  readonly outputs?: string;
  readonly run?: string;
}

const moduleOf = ({ top = '', outputs = "{ out: port('file') }", run = WRITES }: Plugin): string => `
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { defineStage, port } from 'tanren/stage';
${top}
export const bad = defineStage({
  name: 'bad', version: 1, description: 'Misbehaves.', determinism: 'exact', runsModels: 'never',
  params: { type: 'object', additionalProperties: false, properties: {} },
  inputs: { text: port('file') },
  outputs: ${outputs},
  async run({ outputs, context }) { ${run} },
});
`;

let world: CliWorld;
beforeEach(() => {
  world = givenProject({ 'notes.txt': 'text', 'pipeline.yaml': PIPELINE });
  mkdirSync(join(world.folder, 'node_modules'));
  symlinkSync(PROJECT, join(world.folder, 'node_modules/tanren'), 'junction');
});
afterEach(() => world.remove());

describe('a plugin', () => {
  it.each<[string, Plugin, number, string]>([
    [
      'throws as it is imported',
      { top: "throw new Error('boom');" },
      2,
      'error[plugin-load]: plugin "bad" does not load: bad.mjs:5:7: boom',
    ],
    ['ends the process as it is imported', { top: 'process.exit(0);' }, 2, 'error[ended-early]'],
    ['waits for ever as it is imported', { top: 'await new Promise(() => {});' }, 2, 'error[ended-early]'],
    [
      'throws in a function of its ports',
      { outputs: "() => { throw new Error('boom'); }" },
      2,
      'error[plugin-declaration]: plugin "bad" fails',
    ],
    ['ends the process in a function of its ports', { outputs: '() => process.exit(0)' }, 2, 'error[ended-early]'],
    ['declares no ports', { outputs: '() => undefined' }, 2, 'ports are an object of port() by name; it gives undefined'],
    ['declares what is no port', { outputs: '() => ({ out: 5 })' }, 2, 'port "out" is not declared by port() or recordPort()'],
    ['names a port by a path', { outputs: "{ '../out': port('file') }" }, 2, '"../out" is not a valid port name'],
    [
      'wants a summary of the build in an exact result',
      { outputs: "{ out: port('file') }, needs: 'build-summary'" },
      2,
      "it needs a summary of the build, in which times are: its determinism is 'measured'",
    ],
    [
      'declares `reads` that are no list',
      { outputs: "{ out: port('file') }, reads: './data'" },
      2,
      'reads should be a list of paths or file: URLs',
    ],
    ['declares a path with a NUL in `reads`', { outputs: "{ out: port('file') }, reads: ['a\\0b']" }, 2, 'reads should be a list of paths'],
    ['declares no number as its version', { outputs: "{ out: port('file') }, version: NaN" }, 2, 'version should be a number'],
    ['declares a version that JSON cannot hold', { outputs: "{ out: port('file') }, version: 1n" }, 2, 'version should be a number'],
    [
      'declares an unknown determinism',
      { outputs: "{ out: port('file') }, determinism: 'maybe'" },
      2,
      "determinism should be 'exact' or 'measured'",
    ],
    [
      'declares that it runs models at times',
      { outputs: "{ out: port('file') }, runsModels: 'at times'" },
      2,
      "runsModels should be 'always' or 'never'",
    ],
    ['declares tools that are no list', { outputs: "{ out: port('file') }, tools: () => 'sh'" }, 2, 'tools should give a list of programs'],
    ['throws in a function of its tools', { outputs: "{ out: port('file') }, tools: () => { throw new Error('boom'); }" }, 2, 'boom'],
    [
      'declares a device that JSON cannot hold',
      { outputs: "{ out: port('file') }, device: () => ({ a: NaN })" },
      2,
      'NaN has no JSON form',
    ],
    [
      'declares a device that is no object',
      { outputs: "{ out: port('file') }, device: () => null" },
      2,
      'device should give a JSON object',
    ],
    ['has a schema that leads nowhere', { outputs: "{ out: port('file') }, params: { $ref: '#/none' }" }, 2, 'error[plugin-load]'],
    [
      'has a schema that holds itself',
      { top: 'const self = { type: "object" }; self.properties = { self };', outputs: "{ out: port('file') }, params: self" },
      2,
      'error[plugin-load]',
    ],
    ['throws in run', { run: "throw new Error('boom');" }, 1, 'error[stage-crashed]: act: boom'],
    ['writes nothing', { run: '' }, 1, 'error[output-missing]: act: the stage ended without writing output "out"'],
    ['writes a folder for a file', { run: 'await mkdir(outputs.out);' }, 1, 'error[output-form]'],
    ['links out of its run', { run: "await symlink('/etc/hostname', outputs.out);" }, 1, 'error[output-escapes]'],
    ['ends its process in run', { run: 'process.exit(0);' }, 1, 'error[worker-died]: act: the worker ended with exit code 0 and no result'],
    [
      'removes the folder it runs in',
      { run: "await rm(dirname(context.scratch), { recursive: true }); throw new Error('gone');" },
      1,
      'error[run-folder-removed]',
    ],
    ['never ends', { run: 'for (;;);' }, 1, 'error[timeout]: act: the stage ran longer than its timeout of 3 s'],
    [
      'logs without a level',
      { run: `context.log('hello'); ${WRITES}` },
      1,
      'error[stage-crashed]: act: context.log expects a level ("info" or "warning")',
    ],
    ['reports no numbers', { run: `context.progress('half'); ${WRITES}` }, 1, 'context.progress expects two numbers and a text'],
    ['speaks to the engine itself', { run: `process.send({ kind: 'log' }); ${WRITES}` }, 1, 'error[worker-message]'],
  ])('that %s: one error, and the build succeeds when it is fixed', (_what, plugin, exitCode, message) => {
    world.write('bad.mjs', moduleOf(plugin));
    // Others have all the time that they need: a slow machine is no error.
    if (message.startsWith('error[timeout]')) world.write('pipeline.yaml', PIPELINE.replace('"}}', '"}, timeout: 3s}'));
    const failed = world.run('build');
    expect(failed.stdout + failed.stderr).toContain(message);
    expect((failed.stdout + failed.stderr).match(/^.*error\[/gm)).toHaveLength(1);
    expect(failed.exitCode).toBe(exitCode);
    expect(existsSync(join(world.folder, 'artifacts/act/out'))).toBe(false);

    world.write('bad.mjs', moduleOf({}));
    expect(world.run('build').exitCode).toBe(0);
    expect(world.read('artifacts/act/out')).toBe('right');
  });
});
