/** `tanren try`: one table for models of several forms, a saved pipeline that is up to date, and what is refused. */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Tried } from '../../../src/cli/commands/project/try/tried.js';
import { encodeModel } from '../../../src/onnx/serde/encode-model.js';
import { parseModelText } from '../../../src/onnx/text/parse-text.js';
import { type CliWorld, givenProject } from '../../support/cli-world.js';
import { SHAPES_FOLDER } from '../../support/shapes.js';

const weights = (count: number): string => `{${Array.from({ length: count }, (_, index) => (((index * 7) % 13) - 6) / 20).join(', ')}}`;
const HEAD = '<ir_version: 8, opset_import: ["": 17]>\n';

const CLASSIFIER = `${HEAD}g (float[N, 3, 32, 32] image) => (float[N, 10] scores)
<float[6, 3, 3, 3] w = ${weights(162)}, float[6, 10] f = ${weights(60)}, int64[2] flat = {-1, 6}> {
  c = Conv<pads = [1, 1, 1, 1]>(image, w)
  r = Relu(c)
  p = GlobalAveragePool(r)
  v = Reshape(p, flat)
  scores = MatMul(v, f)
}`;
const NO_IMAGE = `${HEAD}g (float[N, 4] x) => (float[N, 4] y)
{
  y = Relu(x)
}`;

let world: CliWorld;
beforeEach(() => {
  world = givenProject({});
});
afterEach(() => world.remove());

const give = (text: string): void => writeFileSync(join(world.folder, 'net.onnx'), encodeModel(parseModelText(text)));

describe('try', () => {
  it('prints one table with top-1, in 80 columns, and keeps nothing', () => {
    give(CLASSIFIER);
    const { stdout, stderr, exitCode } = world.run('try', 'net.onnx');
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
    expect(stdout).toContain('net.onnx: a classifier of 10 classes; 5 nodes');
    expect(stdout).toMatch(/SQNR and agreement say nothing\nabout accuracy/);
    for (const preset of ['xint8', 'a8w8', 'a16w8']) expect(stdout).toMatch(new RegExp(`^${preset} .* dB +\\d+ of 16$`, 'm'));
    expect(stdout.split('\n').filter(line => line.length > 80)).toEqual([]);
    expect(stdout).toMatch(/^1\. name images/m);
    expect(['artifacts', 'cache'].map(name => world.exists(name))).toEqual([false, false]);
  });

  it('saves the pipeline that it built', () => {
    give(CLASSIFIER);
    expect(world.run('try', 'net.onnx', '--save', 'net.yaml').exitCode).toBe(0);
    expect(world.run('build', '-f', 'net.yaml').stdout).toContain('nothing to do');
    expect(world.run('try', 'net.onnx', '--save', 'net.yaml')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('error[file-exists]'),
    });
  });

  it('quantizes the network of a whole detector as torchvision exports it, and compares detections', () => {
    const model = join(SHAPES_FOLDER, 'models/maskrcnn-shapes-torchvision.onnx');
    const photos = readdirSync(join(SHAPES_FOLDER, 'data/calib')).slice(0, 2);
    const { stdout, exitCode } = world.run('try', model, ...photos.map(name => join(SHAPES_FOLDER, 'data/calib', name)), '--json');
    expect(exitCode).toBe(0);
    const { what, nodes, rows } = JSON.parse(stdout) as Tried;
    expect({ what, nodes }).toMatchObject({ what: expect.stringMatching(/^a whole detector/), nodes: { of: 'network' } });
    const int8 = rows.find(({ preset }) => preset === 'a8w8');
    expect(int8?.npuShare).toBeGreaterThan(0.9);
    const { of, equal = 0, total = 0 } = int8?.agreement ?? {};
    expect(of).toBe('detections');
    // The float network finds what the whole model finds; int8 keeps most of it.
    expect(equal).toBeGreaterThan(5);
    expect(equal / total).toBeGreaterThan(0.6);
    expect(equal).toBeLessThanOrEqual(total);
  });

  it.each([
    ['nothing', 'Relu(image)', '{cuts: static}', false],
    ['a normalization', 'Div(image, two)', '{cuts: static, prepare: model}', true],
  ])('calibrates the network of a detector through what precedes it: %s', (_, node, cuts, isPrepared) => {
    const first = isPrepared ? `n = ${node}\n c = Conv<strides = [8, 8]>(n, w)` : 'c = Conv<strides = [8, 8]>(image, w)';
    give(`${HEAD}g (float[1, 3, 32, 32] image) => (int64[found, 3] chosen)
<float two = {2}, float[8, 3, 8, 8] w = ${weights(1536)}, int64[2] parts = {4, 4}, int64[3] rows = {1, 8, 16}, int64[1] most = {10}, float[1] half = {0.5}> {
      ${first}
      r = Reshape(c, rows)
      b, s = Split<axis = 1>(r, parts)
      boxes = Transpose<perm = [0, 2, 1]>(b)
      scores = Sigmoid(s)
      chosen = NonMaxSuppression(boxes, scores, most, half, half) }`);
    const { stdout, exitCode } = world.run('try', 'net.onnx', '--save', 'net.yaml', '--json');
    const { what, rows } = JSON.parse(stdout) as Tried;
    expect({ exitCode, what }).toMatchObject({ exitCode: 0, what: expect.stringMatching(/^a whole detector/) });
    expect(rows.find(({ preset }) => preset === 'a8w8')?.sqnrDb).toBeGreaterThan(20);
    const text = world.read('net.yaml');
    expect(text).toContain(`with: ${cuts}`);
    expect(text.split('prepare: parts.prepare').length - 1).toBe(isPrepared ? 4 : 0);
  });

  it('compares the classes of pixels of a segmentation network', () => {
    give(`${HEAD}g (float[1, 3, 32, 32] image) => (float[1, 4, 32, 32] maps) <float[4, 3, 3, 3] w = ${weights(108)}> {
      maps = Conv<pads = [1, 1, 1, 1]>(image, w) }`);
    const { stdout, exitCode } = world.run('try', 'net.onnx', '--json');
    expect(exitCode).toBe(0);
    const { what, rows } = JSON.parse(stdout) as Tried;
    expect(what).toBe('a segmentation network of 4 classes');
    const { of, equal = 0, total = 0 } = rows.find(({ preset }) => preset === 'a16w8')?.agreement ?? {};
    expect({ of, total }).toEqual({ of: 'pixels', total: 16 * 32 * 32 });
    expect(equal / total).toBeGreaterThan(0.9);
    expect(equal).toBeLessThan(total);
  });

  it.each([
    [5, 8, 'a segmentation network of 5 classes'],
    [17, 8, 'a network that takes images'],
    [16, 8, 'a network that takes images'],
    [5, 2, 'a network that takes images'],
  ])('takes %d channels at %d of 32 pixels for %s', (channels, side, what) => {
    const stride = 32 / side;
    give(`${HEAD}g (float[1, 3, 32, 32] image) => (float[1, ${channels}, ${side}, ${side}] maps) <float[${channels}, 3, ${stride}, ${stride}] w = ${weights(channels * 3 * stride * stride)}> {
      maps = Conv<strides = [${stride}, ${stride}]>(image, w) }`);
    expect(world.run('init', '--model', 'net.onnx').stdout).toContain(`wrote pipeline.yaml: ${what}\n`);
    expect(/evaluate-segmentation/.test(world.read('pipeline.yaml'))).toBe(what.includes('segmentation'));
  });

  it('says which presets collapse, and succeeds, because that is an answer', () => {
    give(`${HEAD}g (float[1, 3, 32, 32] image) => (float[1, 4, 32, 32] maps) <float[4, 3, 3, 3] w = ${weights(108)}, float s = {1e-6}, float h = {0.5}> {
      c = Conv<pads = [1, 1, 1, 1]>(image, w)  m = Mul(c, s)  maps = Add(m, h) }`);
    const { stdout, exitCode, stderr } = world.run('try', 'net.onnx');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toMatch(/^a8w8 .* dB +\S+ %$/m);
    expect(stdout).toMatch(/^a8w8: maps: all elements are 0\.\d+, those of the reference differ$/m);
    expect(stdout).toMatch(/^1\. .*\n(.*\n)*2\. see why outputs collapse/m);
  });

  it('finds the size of images, or takes that of --size', () => {
    const pixels = 3 * 20 * 24;
    give(`${HEAD}g (float[N, 3, H, W] image) => (float[N, 4] scores) <float[1] one = {0.25}, int64[2] d = {${pixels}, 4}> {
      f = Flatten(image)  w = Expand(one, d)  scores = MatMul(f, w) }`);
    expect(world.run('try', 'net.onnx')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(/^error\[image-size\]: input "image" leaves height and width free[\s\S]*--size/),
    });
    expect(world.run('try', 'net.onnx', '--size', '20x24', '--save', 'net.yaml')).toMatchObject({ stderr: '', exitCode: 0 });
    expect(world.read('net.yaml')).toContain('shapes: {image: [1, 3, 20, 24]}');
    expect(world.run('try', 'net.onnx', '--size', '20')).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('224x320') });
  });

  it('has no table where a stage before quantization fails, and leads to its error', () => {
    give(`<ir_version: 8, opset_import: ["": 17, "of.nobody": 1]>\ng (float[1, 3, 32, 32] image) => (float[1, 4, 32, 32] maps) {
      maps = of.nobody.Secret(image) }`);
    const { stdout, stderr, exitCode } = world.run('try', 'net.onnx');
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^error\[/m);
    expect(stderr).not.toContain('log:');
    expect(stdout).toMatch(/not complete, because \w+ failed/);
    expect(stdout).not.toContain('a8w8');
    expect(stdout).toMatch(/^1\. follow the help of the error of \w+$/m);
  });

  it('says what it cannot quantize', () => {
    give(NO_IMAGE);
    const { stdout, exitCode } = world.run('try', 'net.onnx', '--json');
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ what: 'a network that takes no images', images: { are: 'none' } });
  });

  it.each([
    ['no model', ['text.onnx'], 'error[model-malformed]'],
    ['no file', ['absent.onnx'], 'error[model-unreadable]'],
    ['no image', ['net.onnx', 'absent'], 'error[pictures-missing]'],
    ['an empty folder', ['net.onnx', 'empty'], 'error[no-pictures]'],
  ])('refuses %s', (_what, args, code) => {
    give(CLASSIFIER);
    world.write('text.onnx', 'hello');
    world.write('empty/readme.txt', '');
    expect(world.run('try', ...args)).toMatchObject({ stdout: '', exitCode: 2, stderr: expect.stringContaining(code) });
  });
});
