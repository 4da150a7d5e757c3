/** The stages that recover accuracy give the same bytes with one job, with several, and after they were killed; CI kills the first of them. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { digestBytes } from '../../src/base/digest.js';
import { ints } from '../../src/onnx/ir/attribute.js';
import { writeModel } from '../../src/onnx/serde/model-file.js';
import { encodeNpz } from '../../src/tensor/formats/npz.js';
import { type CliWorld, givenProject } from '../support/cli-world.js';
import { strideOfPoints } from '../support/rounds.js';
import { randomConstants, randomFloats, type SmallNode, smallModel } from '../support/small-model.js';

const IMAGE = [1, 3, 16, 16];
const METHODS = '{preset: a8w8-per-channel, range: mse}';

const PIPELINE = `version: 1
sources: {model: float.onnx, tensors: tensors}
stages:
  capture: {uses: capture, with: {of: model}, inputs: {model: "\${sources.model}", tensors: "\${sources.tensors}"}}
  calibrate: {uses: calibrate, inputs: {model: "\${sources.model}", captured: capture.captured}}
  search:
    uses: search-ranges
    with: {quantize: ${METHODS}, layers: 2}
    inputs: {model: "\${sources.model}", sketches: calibrate.sketches, captured: capture.captured}
  widen:
    uses: widen-types
    with: {quantize: ${METHODS}, constraint: {share: 0.4}}
    inputs: {model: "\${sources.model}", sketches: calibrate.sketches, captured: capture.captured}
  quantize:
    foreach: [search, widen]
    uses: quantize
    with: ${METHODS}
    inputs: {model: "\${sources.model}", sketches: calibrate.sketches, overrides: "\${item}.overrides"}
  round:
    foreach: [gptq, adaround]
    uses: round-weights
    with: {method: "\${item}"}
    inputs: {model: quantize@search.model, float: "\${sources.model}", captured: capture.captured}
  biases:
    foreach: {gptq: round@gptq.model, adaround: round@adaround.model, widened: quantize@widen.model}
    uses: correct-biases
    inputs: {model: "\${item}", float: "\${sources.model}", captured: capture.captured}
  costs:
    uses: sensitivity
    inputs: {model: quantize@widen.model, float: "\${sources.model}", captured: capture.captured}
`;

/** Residual blocks of three layers each. */
const BLOCKS = 3;

const network = () =>
  smallModel({
    inputs: { x: ['float32', IMAGE] },
    constants: randomConstants({
      w: [8, 3, 3, 3],
      b: [8],
      ...Object.fromEntries(
        Array.from({ length: BLOCKS }, (_, i) => [
          [`w${i}a`, [8, 8, 1, 1]],
          [`b${i}a`, [8]],
          [`w${i}b`, [8, 8, 3, 3]],
          [`b${i}b`, [8]],
        ]).flat(),
      ),
    }),
    nodes: [
      { op: 'Conv', name: 'stem', in: ['x', 'w', 'b'], out: ['c'] },
      { op: 'Relu', in: ['c'], out: ['r'] },
      ...Array.from({ length: BLOCKS }, (_, i): SmallNode[] => {
        const from = i === 0 ? 'r' : `s${i - 1}`;
        return [
          { op: 'Conv', name: `block${i}-a`, in: [from, `w${i}a`, `b${i}a`], out: [`c${i}a`] },
          { op: 'Relu', in: [`c${i}a`], out: [`r${i}a`] },
          {
            op: 'Conv',
            name: `block${i}-b`,
            in: [`r${i}a`, `w${i}b`, `b${i}b`],
            out: [`c${i}b`],
            attributes: { pads: ints([1, 1, 1, 1]) },
          },
          { op: 'Add', name: `sum${i}`, in: [from, `c${i}b`], out: [`s${i}`] },
        ];
      }).flat(),
    ],
    outputs: [`s${BLOCKS - 1}`],
  });

const worlds: CliWorld[] = [];
afterAll(() => {
  for (const world of worlds) world.remove();
});

async function given(): Promise<CliWorld> {
  const world = givenProject({ 'package.json': '{}', 'pipeline.yaml': PIPELINE });
  worlds.push(world);
  mkdirSync(join(world.folder, 'tensors'));
  await writeModel(join(world.folder, 'float.onnx'), network());
  for (const seed of [1, 2, 3, 4])
    writeFileSync(join(world.folder, `tensors/${seed}.npz`), encodeNpz(new Map([['x', randomFloats(IMAGE, seed)]])));
  return world;
}

/** Digests of all artifacts by path. */
function digestsOf(world: CliWorld): Readonly<Record<string, string>> {
  const folder = join(world.folder, 'artifacts');
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && !entry.parentPath.includes('/.'))
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter(path => !path.slice(folder.length + 1).startsWith('.'))
    .sort();
  return Object.fromEntries(files.map(path => [path.slice(folder.length + 1), digestBytes(readFileSync(path))]));
}

function build(world: CliWorld, ...args: readonly string[]): Readonly<Record<string, string>> {
  const { exitCode, stdout, stderr } = world.run('build', ...args);
  expect([exitCode, exitCode === 0 ? '' : stdout + stderr]).toEqual([0, '']);
  return digestsOf(world);
}

let expected: Readonly<Record<string, string>>;
beforeAll(async () => {
  expected = build(await given(), '--jobs', '1');
}, 300_000);

it('what is compared are the models and ranges of every method', () => {
  const paths = Object.keys(expected);
  for (const path of [
    'search/overrides.json',
    'widen/overrides.json',
    'quantize@search/model.onnx',
    'round@gptq/model.onnx',
    'round@adaround/model.onnx',
    'biases@widened/model.onnx',
    'costs/report.json',
  ])
    expect(paths).toContain(path);
  // Each method changes something, so that equal bytes say something.
  const models = paths.filter(path => path.endsWith('.onnx'));
  expect(new Set(models.map(path => expected[path])).size).toBe(models.length);
});

it('with four jobs', async () => {
  expect(build(await given(), '--jobs', '4')).toEqual(expected);
}, 300_000);

it.each(
  ['search', 'widen', 'round@adaround', 'biases@gptq'].filter((_, index) => index % strideOfPoints() === 0),
)('killed while %s ran, and built again', async stage => {
  const world = await given();
  const killed = world.start('build', '--jobs', '2');
  await killed.waitFor(`▸ ${stage}`);
  killed.signal('SIGKILL');
  await killed.ended;
  expect(build(world)).toEqual(expected);
}, 300_000);
