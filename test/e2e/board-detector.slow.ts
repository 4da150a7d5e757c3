/** detector.py of a bundle, with ONNX Runtime's CPU provider, finds the objects that `evaluate` finds with the same models. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Json } from '../../src/base/json.js';
import { decodeImage } from '../../src/detection/image/decode-image.js';
import { rleIou } from '../../src/detection/masks/rle-combine.js';
import { decodeRleText } from '../../src/detection/masks/rle-text.js';
import { describeWithOnnxRuntime, runProgram } from '../support/board-python.js';
import { givenShapesProject, PROJECT, type ShapesProject } from '../support/shapes-project.js';

const IMAGES = 12;

interface Found {
  readonly image_id: number;
  readonly category_id: number;
  readonly bbox: readonly number[];
  readonly score: number;
  readonly mask_score?: number;
  readonly segmentation: { readonly size: readonly [number, number]; readonly counts: string };
}

interface Times {
  readonly minMs: number;
  readonly p50Ms: number;
}

interface BoardReport {
  readonly parts: readonly {
    readonly part: string;
    readonly forms: readonly { readonly rows: readonly { readonly counts: readonly { readonly here: Times }[] }[] }[];
  }[];
  readonly detector: { readonly steps: Readonly<Record<string, Times>>; readonly models: Readonly<Record<string, Times>> };
}

let project: ShapesProject;
beforeAll(() => {
  project = givenShapesProject(IMAGES);
  // The box head in float, on the CPU: two calls of 100 RoIs, and no tiles.
  const placed = readFileSync(project.path('pipeline.yaml'), 'utf8')
    .replace('pin: {box_rois: 1, mask_rois: 1}}', 'pin: {box_rois: 100, mask_rois: 1}, place: {box_head: cpu}}')
    .replace('box_head: quantize@box_head.model\n        box_head_tiles', 'box_head: simplify@box_head.model\n        box_head_tiles')
    .replace('inputs: {parts: *int8, recipe', 'inputs: {parts: {<<: *int8, box_head: simplify@box_head.model}, recipe');
  writeFileSync(project.path('pipelines/placed.yaml'), placed);
  const config = 'examples/shapes/models/yolact-shapes.json';
  for (const nms of ['traditional', 'fast-cross-class']) {
    const { detection, ...rest } = readJson<{ readonly detection: object }>(project.path(config));
    writeFileSync(project.path(`${nms}.json`), JSON.stringify({ ...rest, detection: { ...detection, nms } }));
    const pipeline = readFileSync(project.path('pipelines/yolact-shapes.yaml'), 'utf8');
    writeFileSync(project.path(`pipelines/yolact-${nms}.yaml`), pipeline.replace(config, `${nms}.json`));
  }
});
afterAll(() => project.remove());

const readJson = <T>(path: string): T => JSON.parse(readFileSync(path, 'utf8')) as T;
const CPU = ['--provider', 'CPUExecutionProvider', '--warm-up', '0'] as const;
const DATA = ['--annotations', 'examples/shapes/data/instances_val.json', '--images', 'examples/shapes/data/val'] as const;

describeWithOnnxRuntime('detector.py', () => {
  it.each([
    ['Mask R-CNN', 'pipeline.yaml', 'evaluate-int8'],
    ['Mask R-CNN with its box head on the CPU', 'pipelines/placed.yaml', 'evaluate-int8'],
    ['Mask R-CNN on tiles', 'pipelines/maskrcnn-tiles.yaml', 'evaluate-tiles'],
    ['Mask Scoring R-CNN', 'pipelines/maskscoring-shapes.yaml', 'evaluate-int8'],
    ['YOLACT', 'pipelines/yolact-shapes.yaml', 'evaluate-int8'],
    ['YOLACT and its traditional suppression', 'pipelines/yolact-traditional.yaml', 'evaluate-int8'],
    ['YOLACT and its fast suppression across classes', 'pipelines/yolact-fast-cross-class.yaml', 'evaluate-int8'],
  ])('finds the same objects with %s, and computes the same average precision', (name, pipeline, stage) => {
    const built = project.build('-f', pipeline, 'compile', stage);
    expect([built.exitCode, built.failed]).toEqual([0, []]);
    const artifact = (stage: string, port: string): string => project.path(built.stages.get(stage)?.artifacts[port] ?? '');
    const [results, times] = [project.path('found.json'), project.path('times.json')];
    const data = DATA.map(value => (value.startsWith('examples') ? project.path(value) : value));
    const args = ['evaluate', ...data, ...CPU, '--samples', String(IMAGES), '--results', results, '--times', times];
    const { exitCode, stdout, stderr } = runProgram(artifact('compile', 'bundle'), 'detector.py', args);
    expect([exitCode, stderr.split('\n').filter(line => line.includes('error'))]).toEqual([0, []]);

    const [found, expected] = [readJson<Found[]>(results), readJson<Found[]>(artifact(stage, 'detections'))];
    // Across classes, a box is found once.
    expect(found.length).toBeGreaterThan(name.endsWith('across classes') ? 40 : 50);
    expect(found.map(({ image_id, category_id }) => [image_id, category_id])).toEqual(
      expected.map(({ image_id, category_id }) => [image_id, category_id]),
    );
    for (const [index, one] of found.entries()) {
      const other = expected[index] as Found;
      for (const [side, value] of one.bbox.entries()) expect(Math.abs(value - (other.bbox[side] ?? 0))).toBeLessThan(0.1);
      expect(Math.abs(one.score - other.score)).toBeLessThan(1e-3);
      expect(Math.abs((one.mask_score ?? 0) - (other.mask_score ?? 0))).toBeLessThan(1e-3);
      expect(maskIou(one, other)).toBeGreaterThan(0.99);
    }
    const metrics = readJson<Record<string, Record<string, number>>>(artifact(stage, 'metrics'));
    for (const type of ['bbox', 'segm']) {
      const { AP = 0, AP50 = 0, AP75 = 0 } = metrics[type] ?? {};
      const figures = [`AP ${AP.toFixed(4)}`, `AP50 ${AP50.toFixed(4)}`, `AP75 ${AP75.toFixed(4)}`].join(', ');
      expect(stdout).toContain(`${type}: ${figures} on ${IMAGES} images`);
    }
    expect(readJson<{ steps: Json }>(times)).toMatchObject({ images: IMAGES, threads: 1, steps: { total: { repeats: IMAGES } } });
  });

  it('times the models that it runs with all their calls per image, and `place: auto` takes these times', () => {
    const built = project.build('compile', 'bench');
    const bundle = project.path(built.stages.get('compile')?.artifacts.bundle ?? '');
    const json = project.path('board.json');
    const images = ['--images', project.path('examples/shapes/data/val'), '--samples', '3', '--repeats', '4'];
    const cpu = ['--provider', 'CPUExecutionProvider', '--warm-up', '1'];
    expect(runProgram(bundle, 'runner.py', ['check', ...cpu, ...images, '--json', json]).exitCode).toBe(0);
    const { parts, detector } = readJson<BoardReport>(json);
    expect(Object.keys(detector.models).sort()).toEqual(['backbone', 'box_head_tiles', 'mask_head_tiles']);
    const callMs = parts.find(({ part }) => part === 'box_head_tiles')?.forms[0]?.rows[0]?.counts[0]?.here.minMs ?? Infinity;
    // 200 proposals take 8 calls of 25 tiles. The least time of one call is the least disturbed.
    expect(detector.models.box_head_tiles?.p50Ms).toBeGreaterThan(3 * callMs);
    expect(detector.models.box_head_tiles?.p50Ms).toBeLessThanOrEqual(detector.steps.box_head?.p50Ms ?? 0);
    const auto = readFileSync(project.path('pipeline.yaml'), 'utf8')
      .replace('\nstages:\n', '\n  measured: board.json\n\nstages:\n  board: {uses: bench, inputs: {measured: "${sources.measured}"}}\n')
      .replace('pin: {box_rois: 1, mask_rois: 1}}', 'pin: {box_rois: 1, mask_rois: 1}, place: auto}')
      .replace(
        'recipe: tile-rois.recipe\n      config:',
        'recipe: tile-rois.recipe\n      measured: {npu: board.report, cpu: bench.report}\n      config:',
      );
    writeFileSync(project.path('pipelines/auto.yaml'), auto);
    const placed = project.build('-f', 'pipelines/auto.yaml', 'compile');
    expect([placed.exitCode, placed.failed]).toEqual([0, []]);
    const report = readJson<{ placements: { part: string; basis: string; npuMs: number }[] }>(
      project.path(placed.stages.get('compile')?.artifacts.report ?? ''),
    );
    expect(report.placements.map(({ part, basis, npuMs }) => [part, basis, npuMs])).toEqual([
      ['backbone', 'measured', detector.models.backbone?.p50Ms],
      ['box_head', 'measured', detector.models.box_head_tiles?.p50Ms],
      ['mask_head', 'measured', detector.models.mask_head_tiles?.p50Ms],
    ]);
  });

  it('draws pictures, and keeps the folder of the bundle as it is', async () => {
    const built = project.build('compile');
    const bundle = project.path(built.stages.get('compile')?.artifacts.bundle ?? '');
    const before = readdirSync(bundle, { recursive: true }).sort();
    const overlays = project.path('overlays');
    const image = project.path('examples/shapes/data/val/000000001000.jpg');
    const { exitCode, stdout } = runProgram(bundle, 'detector.py', ['detect', image, ...CPU, '--overlays', overlays]);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^step +p50 +p90 +p99 {2}ms of 1 image/);
    const [original, drawn] = await Promise.all(
      [image, join(overlays, '000000001000.png')].map(async path => decodeImage(readFileSync(path), path)),
    );
    expect([drawn?.width, drawn?.height]).toEqual([256, 192]);
    expect(drawn?.data).not.toEqual(original?.data);
    expect(readdirSync(bundle, { recursive: true }).sort()).toEqual(before);
  });

  it('reads frames of a camera', () => {
    const built = project.build('compile');
    const bundle = project.path(built.stages.get('compile')?.artifacts.bundle ?? '');
    const results = project.path('frames.json');
    const { exitCode, stderr } = runProgram(bundle, 'detector.py', ['camera', '--frames', '2', ...CPU, '--results', results], {
      PYTHONPATH: join(PROJECT, 'test/fixtures/stub-camera'),
      STUB_CAMERA: project.path('examples/shapes/data/val/000000001000.jpg'),
    });
    expect([exitCode, stderr.match(/^frame-\d+: \d+ objects/gm)?.length]).toEqual([0, 2]);
    expect(new Set(readJson<Found[]>(results).map(({ image_id }) => image_id))).toEqual(new Set([1, 2]));
  });
});

function maskIou(one: Found, other: Found): number {
  const mask = ({ segmentation: { size, counts } }: Found) => decodeRleText(counts, size[0], size[1]);
  return one.segmentation.counts === other.segmentation.counts ? 1 : rleIou(mask(one), mask(other));
}
