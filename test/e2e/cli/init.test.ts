/** `tanren init`: what it writes builds at once, for models of several forms and from the examples. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { encodeModel } from '../../../src/onnx/serde/encode-model.js';
import { parseModelText } from '../../../src/onnx/text/parse-text.js';
import { encodeNpz } from '../../../src/tensor/formats/npz.js';
import { makeTensor } from '../../../src/tensor/tensor.js';
import { type CliWorld, givenProject } from '../../support/cli-world.js';

const weights = (count: number): string => `{${Array.from({ length: count }, (_, index) => (((index * 7) % 13) - 6) / 20).join(', ')}}`;
const HEAD = '<ir_version: 8, opset_import: ["": 17]>\n';
const CONV = `float[6, 3, 3, 3] w = ${weights(162)}`;

const MODELS = {
  classifier: `${HEAD}g (float[N, 3, 32, 32] image) => (float[N, 10] scores)
<${CONV}, float[6, 10] f = ${weights(60)}, int64[2] flat = {-1, 6}> {
  c = Conv<pads = [1, 1, 1, 1]>(image, w)
  r = Relu(c)
  p = GlobalAveragePool(r)
  v = Reshape(p, flat)
  scores = MatMul(v, f)
}`,
  'channels first': `${HEAD}g (float[1, 3, 64, 64] image) => (float[1, 6, 64] rows)
<${CONV}, float[6] b = ${weights(6)}, int64[3] shape = {1, 6, 64}> {
  c = Conv<strides = [8, 8], pads = [1, 1, 0, 0]>(image, w, b)
  rows = Reshape(c, shape)
}`,
  'free sizes': `${HEAD}g (float[N, 3, height, width] image) => (float[N, 6, height, width] map)
<${CONV}> {
  map = Conv<pads = [1, 1, 1, 1]>(image, w)
}`,
  'free sizes of a detector': `${HEAD}g (float[N, 3, height, width] image) => (float[N, rows, 7] rows)
<float[7, 3, 3, 3] w = ${weights(189)}, int64[3] shape = {1, 7, -1}> {
  c = Conv<strides = [8, 8], pads = [1, 1, 0, 0]>(image, w)
  r = Reshape(c, shape)
  t = Transpose<perm = [0, 2, 1]>(r)
  z = Concat<axis = 1>(t, t, t)
  rows = Identity(z)
}`,
  'no image': `${HEAD}g (float[N, 4] x) => (float[N, 4] y)
{
  y = Relu(x)
}`,
  bytes: `<ir_version: 9, opset_import: ["" : 17]>
net (uint8[1, 16, 16, 3] x) => (float[1, 16, 16, 3] y) <float[3, 3, 3, 3] w = ${weights(81)}> {
  f = Cast<to = 1>(x)
  t = Transpose<perm = [0, 3, 1, 2]>(f)
  c = Conv<pads = [1, 1, 1, 1]>(t, w)
  y = Transpose<perm = [0, 2, 3, 1]>(c)
}`,
  'two images': `<ir_version: 9, opset_import: ["" : 17]>
net (float[1, 3, 16, 16] before, float[1, 3, 16, 16] after, float[1] ratio) => (float[1, 3, 16, 16] y) <float[3, 3, 3, 3] w = ${weights(81)}> {
  d = Sub(before, after)
  m = Mul(d, ratio)
  y = Conv<pads = [1, 1, 1, 1]>(m, w)
}`,
  'a signal': `${HEAD}g (float[N, 1, 32] x) => (float[N, 2, 28] y) <float[2, 1, 5] w = ${weights(10)}> {
  y = Conv(x, w)
}`,
  'an image and depth': `<ir_version: 9, opset_import: ["" : 17]>
net (float[1, 3, 16, 16] rgb, float[1, 1, 16, 16] depth) => (float[1, 4, 16, 16] y) {
  y = Concat<axis = 1>(rgb, depth)
}`,
} as const;

let world: CliWorld;
beforeEach(() => {
  world = givenProject({});
});
afterEach(() => world.remove());

const giveModel = (name: keyof typeof MODELS): void =>
  writeFileSync(join(world.folder, 'net.onnx'), encodeModel(parseModelText(MODELS[name])));

describe('init --model', () => {
  it.each<[keyof typeof MODELS, string, RegExp, number]>([
    ['classifier', 'a classifier of 10 classes', /resize: crop/, 8],
    ['channels first', 'a detector of 2 classes', /grid: \{output: rows, boxes: \{form: center\}, classes: \{channel: 4\}\}/, 9],
    ['free sizes', 'a segmentation network of 6 classes', /shapes: \{image: \[1, 3, 640, 640\]\}/, 8],
    ['free sizes of a detector', 'a detector of 2 classes', /shapes: \{image: \[1, 3, 640, 640\]\}/, 9],
    ['no image', 'a network that takes no images', /shapes: \{x: \[1, 4\]\}/, 3],
    ['bytes', 'a segmentation network of 3 classes', /Assumed: input "x" takes the image: uint8 \[1, height, width, 3\]/, 8],
    ['two images', 'a segmentation network of 3 classes', /inputs: \{after: image, ratio: 1\}/, 8],
    ['an image and depth', 'a network whose inputs an image does not give', /no value is known for input "depth"/, 3],
  ])('of %s drafts a pipeline that builds at once', (name, what, shows, stages) => {
    giveModel(name);
    const init = world.run('init', '--model', 'net.onnx');
    expect([init.stderr, init.exitCode, init.stdout]).toEqual(['', 0, expect.stringContaining(`wrote pipeline.yaml: ${what}\n`)]);
    // A size that a real network has takes long here.
    world.write('pipeline.yaml', world.read('pipeline.yaml').replace('[1, 3, 640, 640]', '[1, 3, 32, 32]'));
    const built = world.run('build', '--json');

    expect(built.exitCode).toBe(0);
    expect(JSON.parse(built.stdout).stages).toHaveLength(stages);
    expect(world.exists('artifacts/report/page.html')).toBe(true);
    expect(world.exists('artifacts/compile/bundle')).toBe(stages > 3);
    expect(`${init.stdout}${world.read('pipeline.yaml').replace('[1, 3, 32, 32]', '[1, 3, 640, 640]')}`).toMatch(shows);
  });

  it('has stages with tensors as comments, which build with a source of tensors', () => {
    giveModel('a signal');
    expect(world.run('init', '--model', 'net.onnx').exitCode).toBe(0);
    mkdirSync(join(world.folder, 'tensors'));
    for (const sample of [0, 1, 2, 3]) {
      const x = makeTensor(
        'float32',
        [1, 1, 32],
        Float32Array.from({ length: 32 }, (_, at) => Math.sin(at + sample)),
      );
      writeFileSync(join(world.folder, `tensors/${sample}.npz`), encodeNpz({ x }));
    }
    const draft = world.read('pipeline.yaml');
    const stages = draft
      .replaceAll(/^ {2}# (calibrate|quantize|verify):/gm, '  $1:')
      .replace(/^sources:\n/m, 'sources:\n  tensors: tensors\n');
    world.write('pipeline.yaml', stages);

    const built = world.run('build', '--json');
    expect(built.exitCode).toBe(0);
    expect(JSON.parse(built.stdout).stages).toHaveLength(6);
  });

  it('takes the images and the form that are named, and a model in another folder', () => {
    world.write('package.json', '{}');
    giveModel('classifier');
    const { stdout } = world.run(
      'init',
      '--model',
      'net.onnx',
      '--template',
      'plain',
      '--images',
      'photographs',
      '-f',
      'pipelines/net.yaml',
    );
    expect(stdout).toContain('wrote pipelines/net.yaml: a network that takes images\n');
    expect(stdout).toContain('next: tanren build -f pipelines/net.yaml;');
    expect(world.read('pipelines/net.yaml')).toMatch(/\n {2}model: net\.onnx\n {2}images: photographs\n/);
    expect(world.exists('examples')).toBe(false);
  });

  it('calibrates with the images there are, where they are few', () => {
    giveModel('classifier');
    for (const name of ['a.jpg', 'b.jpg']) world.write(`photographs/${name}`, '');
    expect(world.run('init', '--model', 'net.onnx', '--images', 'photographs')).toMatchObject({ exitCode: 0 });
    expect(world.read('pipeline.yaml')).toMatch(/ {6}samples: 2\n/);
    expect(world.read('pipeline.yaml')).toMatch(/samples: 2, preprocess: \*preprocess/);
  });
});

it('init --model of a classifier has an evaluation as comments, which work with labels', () => {
  giveModel('classifier');
  world.run('init', '--model', 'net.onnx');
  const pipeline = world.read('pipeline.yaml').replace(/^ {2}# (evaluate-(?:float|int8): )/gm, '  $1');
  world.write('pipeline.yaml', pipeline.replace('\nstages:', '  labels: labels.txt\n\nstages:'));
  const names = readdirSync(join(world.folder, 'examples/shapes/data/calib'));
  world.write('labels.txt', names.map((name, index) => `${name} ${index % 10}\n`).join(''));
  const built = world.run('build', 'evaluate-int8', '--json');
  expect([built.stderr.split('\n').filter(line => line.startsWith('error')), built.exitCode]).toEqual([[], 0]);
}, 120_000);

it('init --model of a segmentation network has an evaluation as comments, which work with masks', async () => {
  giveModel('free sizes');
  world.run('init', '--model', 'net.onnx', '--size', '32x48');
  const pipeline = world.read('pipeline.yaml').replace(/^ {2}# (evaluate-(?:float|int8): )/gm, '  $1');
  world.write('pipeline.yaml', pipeline.replace('\nstages:', '  masks: masks\n\nstages:'));
  mkdirSync(join(world.folder, 'masks'));
  for (const name of readdirSync(join(world.folder, 'examples/shapes/data/calib'))) {
    const { width = 0, height = 0 } = await sharp(join(world.folder, 'examples/shapes/data/calib', name)).metadata();
    const data = Uint8Array.from({ length: width * height }, (_, index) => index % 6);
    await sharp(data, { raw: { width, height, channels: 1 } })
      .toColourspace('b-w')
      .png()
      .toFile(join(world.folder, 'masks', name.replace(/\.\w+$/, '.png')));
  }
  const built = world.run('build', 'evaluate-int8', '--json');
  expect([built.stderr, built.exitCode]).toEqual([expect.any(String), 0]);
  const { stages } = JSON.parse(built.stdout) as { stages: { stage: string; metrics?: { miou: number; delta?: { miou: number } } }[] };
  const metrics = stages.find(({ stage }) => stage === 'evaluate-int8')?.metrics;
  expect(metrics?.miou).toBeGreaterThan(0);
  expect(metrics?.delta?.miou).toBeCloseTo(0, 1);
}, 120_000);

describe('init --annotations and --recover', () => {
  it('draft a pipeline that evaluates in float and int8, and recovers accuracy', () => {
    giveModel('channels first');
    world.run('init', '-f', 'example.yaml');
    const { exitCode } = world.run(
      'init',
      '--model',
      'net.onnx',
      '--images',
      'examples/shapes/data/val',
      '--annotations',
      'examples/shapes/data/instances_val.json',
      '--recover',
    );
    expect(exitCode).toBe(0);
    // The example has other categories than the two classes of the model; few images are enough.
    world.write('pipeline.yaml', world.read('pipeline.yaml').replaceAll('iouTypes: [bbox]', 'iouTypes: [bbox], samples: 2'));
    const built = world.run('build', '--json');
    const { stages } = JSON.parse(built.stdout) as { stages: { stage: string; outcome: { kind: string } }[] };
    expect(stages.filter(({ outcome }) => outcome.kind !== 'executed')).toEqual([]);
    expect(stages.map(({ stage }) => stage)).toEqual(
      expect.arrayContaining(['factors', 'capture', 'biases', 'evaluate-float', 'evaluate-int8', 'report']),
    );
  });

  it('refuse annotations for a model without boxes', () => {
    giveModel('classifier');
    const args = ['init', '--model', 'net.onnx', '--images', 'photographs', '--annotations', 'instances.json'];
    expect(world.run(...args)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('error[no-detector]') });
    expect(world.exists('pipeline.yaml')).toBe(false);
  });
});

describe('init', () => {
  it.each([
    ['maskrcnn', [], 'tanren build;', 26],
    ['yolact', ['--template', 'yolact', '-f', 'pipelines/y.yaml'], 'tanren build -f pipelines/y.yaml;', 9],
  ])('writes the trained example %s with its data, and is never in the way of files', (_name, args, next, least) => {
    const { exitCode, stdout } = world.run('init', ...args);
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining(next)]);
    expect(stdout).toContain(`a trained example detector and its images\n`);
    const file = args.at(-1) ?? 'pipeline.yaml';
    const { stages } = JSON.parse(world.run('status', '--json', '-f', file).stdout);
    expect(stages.length).toBeGreaterThanOrEqual(least);
    expect(stages.filter(({ kind }: { readonly kind: string }) => kind === 'impossible')).toEqual([]);
    expect(world.read(file)).not.toContain('pipelines/yolact-shapes.yaml');

    const before = world.listing();
    expect(world.run('init', ...args)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('error[file-exists]') });
    expect(world.listing()).toEqual(before);
  });

  it('reports what it cannot do, and writes nothing', () => {
    world.write('text.onnx', 'no model');
    const before = world.listing();
    for (const [args, code] of [
      [['--template', 'classifier'], 'model-needed'],
      [['--template', 'maskrcnn', '--model', 'text.onnx'], 'model-needed'],
      [['--annotations', 'instances.json', '--model', 'text.onnx'], 'model-needed'],
      [['--recover'], 'model-needed'],
      [['--model', 'text.onnx'], 'model-malformed'],
      [['--model', 'missing.onnx'], 'model-unreadable'],
      [['-f', 'text.onnx/pipeline.yaml'], 'not-writable'],
    ] as const)
      expect([args, world.run('init', ...args)]).toEqual([
        args,
        expect.objectContaining({ exitCode: 2, stderr: expect.stringMatching(new RegExp(`^error\\[${code}[\\s\\S]*`)) }),
      ]);
    expect(world.listing()).toEqual(before);
  });
});
