/** The commands of docs/onnx.md print what the page shows. UPDATE_GOLDEN=1 rewrites the output on the page. */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { encodeModel } from '../../../src/onnx/serde/encode-model.js';
import { readModel } from '../../../src/onnx/serde/model-file.js';
import { type CliWorld, givenProject } from '../../support/cli-world.js';
import { playPage, TANREN } from '../../support/documented-page.js';
import { makeBroken, makeHead, makePyramid } from '../../support/pyramid.js';
import { DIST } from '../../support/world.js';

const PAGE = join(dirname(DIST), 'docs/onnx.md');
const COMMANDS = ['inspect', 'check', 'infer', 'simplify', 'extract', 'edit', 'rename', 'merge', 'convert', 'diff', 'print', 'stats'];

describe('docs/onnx.md', () => {
  let world: CliWorld;
  afterEach(() => world.remove());

  it('has a code example that runs', async () => {
    const [, code = ''] = /^```js\n([\s\S]*?)^```/m.exec(readFileSync(PAGE, 'utf8')) ?? [];
    world = givenProject({ 'example.mjs': code.replace("'tanren/onnx'", `'${pathToFileURL(join(DIST, 'src/runtime/onnx-public.js'))}'`) });
    writeFileSync(join(world.folder, 'pyramid.onnx'), encodeModel(makePyramid()));

    const { stdout } = await promisify(execFile)(process.execPath, ['example.mjs'], { cwd: world.folder });

    expect(stdout).toBe('remove-identity: 1, fold-batch-normalization: 1\npool [ 1n, 1n ]\n5\n');
    const { graph } = await readModel(join(world.folder, 'coarse.onnx'));
    expect([...graph.nodes.values()].map(({ name, opType }) => `${opType} ${name}`)).toEqual([
      'Conv stem',
      'LeakyRelu act',
      'Conv down',
      'MaxPool pool',
      'Relu top',
    ]);
  });

  it('shows the output of every command at least once', () => {
    const page = readFileSync(PAGE, 'utf8');
    world = givenProject(TANREN);
    // The first line of a file is its name.
    for (const [, file = ''] of page.matchAll(/^```yaml\n(# \S+\.yaml\n[\s\S]*?)^```/gm))
      world.write(/^# (\S+)/.exec(file)?.[1] ?? '', file);
    writeFileSync(join(world.folder, 'pyramid.onnx'), encodeModel(makePyramid()));
    writeFileSync(join(world.folder, 'head.onnx'), encodeModel(makeHead()));
    writeFileSync(join(world.folder, 'broken.onnx'), encodeModel(makeBroken()));
    const { steps, wrong } = playPage(PAGE, world);

    for (const command of COMMANDS) expect(steps.some(step => step.command.startsWith(`tanren onnx ${command} `))).toBe(true);
    expect(wrong).toEqual([]);
  });
});
