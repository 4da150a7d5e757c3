/** Scenarios of content that changed under stamps that did not: no build sees it, and `build --rehash` finds it. */
import { doesNotMatch, match, strictEqual } from 'node:assert';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { CliWorld } from '../support/cli-world.js';
import { forgeStamps } from '../support/forge-stamps.js';
import { project, type Scenario } from './scene.js';

const PIPELINE = `version: 1
sources: {text: text.txt, parts: parts}
plugins: {add: ./add.mjs}
stages:
  a:
    uses: command
    with: {run: ['mytool in parts/1 > out'], shell: sh, tools: [mytool], inputs: {in: in, parts: parts}, outputs: {text: out}}
    inputs: {in: "\${sources.text}", parts: "\${sources.parts}"}
  b: {uses: add, inputs: {text: a.text}}
`;

const SEALED = `version: 1
sources: {text: text.txt, other: other.txt}
stages:
  a: {uses: command, with: {run: [cp, in, out], inputs: {in: in}, outputs: {text: out}}, inputs: {in: "\${sources.text}"}}
  b: {uses: command, with: {run: [cp, in, out], inputs: {in: in}, outputs: {text: out}}, inputs: {in: "\${sources.other}"}}
`;

const ADD = `
import { readFileSync, writeFileSync } from 'node:fs';
import { tail } from './tail.mjs';
const port = { kind: 'file', optional: false, entries: undefined, entryKinds: {}, description: '' };
export const add = {
  name: 'add', version: 1, description: '', determinism: 'exact', runsModels: 'never',
  params: { type: 'object' }, inputs: { text: port }, outputs: { text: port },
  async run({ inputs, outputs }) { writeFileSync(outputs.text, readFileSync(inputs.text, 'utf8') + tail); },
};
`;

const TOOL = '#!/bin/sh\ncat "$@"\necho tool1\n';

/** What both stages make of the files as they are. */
function expected(world: CliWorld): readonly [a: string, b: string] {
  const mark = /echo (tool\d)/.exec(world.read('bin/mytool'))?.[1];
  const tail = /'(tail\d)'/.exec(world.read('tail.mjs'))?.[1];
  const a = `${world.read('text.txt')}${world.read('parts/1')}${mark}\n`;
  return [a, `${a}${tail}`];
}

/** `change` keeps the size; the state then says that nothing was touched. */
function unseen(number: number, what: string, change: (world: CliWorld) => void, reached: 'a' | 'b'): Scenario {
  return project(number, `${what} whose stamp did not change is found by --rehash, and by nothing else`, PIPELINE, async outer => {
    const world = { ...outer, ...outer.with({ environment: { PATH: `${join(outer.folder, 'bin')}:${process.env.PATH ?? ''}` } }) };
    world.write('text.txt', 'text1\n');
    world.write('parts/1', 'part1\n');
    world.write('bin/mytool', TOOL);
    chmodSync(join(world.folder, 'bin/mytool'), 0o755);
    world.write('add.mjs', ADD);
    world.write('tail.mjs', "export const tail = 'tail1';\n");
    // A state in which stamps prove everything.
    await wait(100);
    const first = world.run('build');
    strictEqual(first.exitCode, 0, first.stdout + first.stderr);

    change(world);
    await wait(100);
    forgeStamps(world.folder);
    const blind = world.run('build');
    match(blind.stdout, /nothing to do/, `${blind.stdout}${blind.stderr}`);
    const upToDate = new RegExp(`^${reached} +up to date`, 'm');
    match(world.run('status').stdout, upToDate);
    doesNotMatch(world.run('build', '--dry-run', '--rehash').stdout, upToDate);
    const rehashed = world.run('build', '--rehash');
    strictEqual(rehashed.exitCode, 0, rehashed.stdout + rehashed.stderr);
    const right = expected(world);
    strictEqual(world.read('artifacts/a/text'), right[0]);
    strictEqual(world.read('artifacts/b/text'), right[1]);
    match(world.run('build').stdout, /nothing to do/);
    const again = world.run('build', '--rehash');
    doesNotMatch(again.stdout, /executed|restored/);
    match(again.stdout, /nothing to do/);
  });
}

export const REHASH: readonly Scenario[] = [
  unseen(171, 'a source', world => world.write('text.txt', 'text2\n'), 'a'),
  unseen(172, 'a file in a source folder', world => world.write('parts/1', 'part2\n'), 'a'),
  unseen(173, 'a program', world => world.write('bin/mytool', TOOL.replace('tool1', 'tool2')), 'a'),
  unseen(174, 'a module of a plugin', world => world.write('tail.mjs', "export const tail = 'tail2';\n"), 'b'),
  unseen(175, 'an artifact', world => world.write('artifacts/a/text', 'text9\npart1\ntool1\n'), 'a'),
  project(176, 'a no-op record never answers a build with --rehash', SEALED, async world => {
    world.write('text.txt', 'text1\n');
    world.write('other.txt', 'one\n');
    await wait(100);
    strictEqual(world.run('build').exitCode, 0);
    world.write('text.txt', 'text2\n');
    await wait(100);
    forgeStamps(world.folder);
    world.write('other.txt', 'two\n');
    await wait(100);
    strictEqual(world.run('build').exitCode, 0);
    strictEqual(world.exists('cache/state/pipeline.no-op'), true);
    match(world.run('build').stdout, /nothing to do/);
    strictEqual(world.read('artifacts/a/text'), 'text1\n');
    match(world.run('build', '--rehash').stdout, /1 executed, 1 up to date/);
    strictEqual(world.read('artifacts/a/text'), 'text2\n');
    match(world.run('build').stdout, /nothing to do/);
  }),
];
