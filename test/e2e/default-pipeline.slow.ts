/** The default pipeline on all 200 images: accuracy per step, and the same bytes in any folder and at any number of jobs. */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { digestBytes } from '../../src/base/digest.js';
import { DIST, givenShapesProject, type ShapesProject } from '../support/shapes-project.js';

/** torchvision's float32 detector on these images, by pycocotools. */
const TORCHVISION = { bbox: 0.6803933338540449, segm: 0.5038187021610646 };

const MEASURED = ['bench', 'report'];

describe('the default pipeline on all images', () => {
  let one: ShapesProject;
  let two: ShapesProject;
  beforeAll(() => {
    one = givenShapesProject('all');
    two = givenShapesProject('all');
  });
  afterAll(() => {
    one.remove();
    two.remove();
  });

  /** Of every file that is exact: what `bench` measures is the machine's, and the page has the build's times. */
  const digests = (project: ShapesProject, built: ReturnType<ShapesProject['build']>): Record<string, string> =>
    Object.fromEntries(
      [...built.stages].flatMap(([id, { artifacts }]) =>
        MEASURED.includes(id) ? [] : Object.values(artifacts).flatMap(path => filesAt(project, path)),
      ),
    );
  const filesAt = (project: ShapesProject, path: string): (readonly [string, string])[] =>
    statSync(project.path(path)).isDirectory()
      ? readdirSync(project.path(path)).flatMap(name => filesAt(project, `${path}/${name}`))
      : [[path, digestBytes(readFileSync(project.path(path)))]];

  it('gives equal artifacts in another folder, at another number of jobs, after cache/ and artifacts/ were deleted', () => {
    const first = one.build('--jobs', '1');
    expect(two.build('verify-simplify').exitCode).toBe(0);
    expect(two.tanren('clean', '--all').exitCode).toBe(0);
    const second = two.build('--jobs', '8');

    expect([first.exitCode, second.exitCode]).toEqual([0, 0]);
    expect(second.executed).toHaveLength(second.stages.size);
    expect(digests(two, second)).toEqual(digests(one, first));
    expect(first.stages.size).toBe(26);
  });

  it('loses no more accuracy in a step than its gate allows, and none in the float parts', () => {
    const { stages } = one.build();
    const figures = (stage: string): Record<string, Record<string, number>> => stages.get(stage)?.metrics as never;

    // The same detections up to float rounding: one pair that changes order moves AP by far less than this.
    for (const type of ['bbox', 'segm'] as const)
      expect(Math.abs((figures('evaluate-float')[type]?.AP ?? 0) - TORCHVISION[type])).toBeLessThan(0.002);
  });

  it.each(['xint8', 'a8w8', 'a16w8'])('%s loses at most 0.008 box and mask AP to the exactly rewritten float parts', preset => {
    const { exitCode, stages } = one.build('-p', 'maxpool=depthwise', '-p', `preset=${preset}`);
    const delta = stages.get('evaluate-int8')?.metrics?.delta;

    expect(exitCode).toBe(0);
    expect(delta?.bbox?.AP).toBeGreaterThanOrEqual(-0.008);
    expect(delta?.segm?.AP).toBeGreaterThanOrEqual(-0.008);
    expect(stages.get('evaluate-rewritten')?.metrics?.delta).toMatchObject({ bbox: { AP: 0 }, segm: { AP: 0 } });
    if (preset === 'xint8') expect(stages.get('verify-tiles')?.metrics?.worst?.sqnrDb).toBe('equal');
  });

  it('changes no detection with the other exact form of the rewrite', () => {
    const { exitCode, stages } = one.build('-p', 'maxpool=slice');

    expect(exitCode).toBe(0);
    expect(stages.get('verify-rewrite')?.metrics?.worst?.sqnrDb).toBe('equal');
    expect(stages.get('evaluate-rewritten')?.metrics?.delta).toMatchObject({ bbox: { AP: 0 }, segm: { AP: 0 } });
  });

  it('fails the gates of verify and of evaluate where the parts were calibrated on noise', () => {
    one.edit(
      'pipeline.yaml',
      text => text.replace('sources:\n', 'plugins: {noise-sketches: ./noise-sketches.mjs}\n\nsources:\n') + NOISY_STAGES,
    );
    writeFileSync(one.path('noise-sketches.mjs'), noiseSketchesPlugin());

    const { exitCode, stages, text } = one.build('--keep-going', '-p', 'maxpool=depthwise', '-p', 'preset=a8w8');

    expect(exitCode).toBe(1);
    expect(stages.get('verify-noise')?.outcome.failure).toMatchObject({
      code: 'verify-missed',
      message: expect.stringContaining('objectness_1'),
    });
    expect(stages.get('evaluate-noise')?.outcome.kind).toBe('executed');
    expect(text).toMatch(/✗ gate evaluate-noise: delta\.bbox\.AP >= -0\.006: -0\.0\d+ missed/);
    expect(text).toMatch(/✓ gate evaluate-int8: delta\.bbox\.AP/);
    for (const path of Object.values(stages.get('evaluate-noise')?.artifacts ?? {})) expect(existsSync(one.path(path))).toBe(true);
  });
});

/** The default pipeline's last steps once more, with the same bounds, on parts that saw noise. */
const NOISY_STAGES = `
  calibrate-noise:
    foreach: *rewritten
    uses: noise-sketches
    with: {part: "\${key}"}
    inputs: {model: "\${item}"}
  quantize-noise:
    foreach: *rewritten
    uses: quantize
    with: {preset: "\${preset}"}
    inputs: {model: "\${item}", sketches: "calibrate-noise@\${key}.sketches"}
  verify-noise:
    uses: verify
    with: {samples: "\${verifySamples}", thresholds: {minSqnrDb: 18, maxMissed: 0.35, maxExtra: 0.35}}
    inputs: {reference: *rewritten, candidate: &noisy {backbone: quantize-noise@backbone.model, box_head: quantize-noise@box_head.model, mask_head: quantize-noise@mask_head.model}, recipe: export.recipe, config: "\${sources.config}", data: "\${sources.val}"}
  evaluate-noise:
    uses: evaluate
    inputs: {parts: *noisy, recipe: export.recipe, config: "\${sources.config}", data: "\${sources.val}", baseline: evaluate-rewritten.metrics}
    gate: {delta.bbox.AP: ">= -0.006", delta.segm.AP: ">= -0.008"}
`;

/** A third party's plugin that sketches a part on noise, as the recorded bad example of onnxruntime.quantization did. */
function noiseSketchesPlugin(): string {
  const from = (module: string): string => JSON.stringify(pathToFileURL(join(DIST, module)).href);
  return `
import { port } from ${from('src/stage/public.js')};
export const noiseSketches = {
  name: 'noise-sketches', version: 1, description: 'Sketches a part on noise.',
  params: { type: 'object', required: ['part'], properties: { part: { type: 'string' } } },
  inputs: { model: port('onnx-model') }, outputs: { sketches: port('sketches') },
  determinism: 'exact', runsModels: 'always',
  async run({ params, inputs, outputs }) {
    const { sketchNoise } = await import(${from('test/support/noise-calibration.js')});
    const { encodeModelSketches } = await import(${from('src/quant/calibration/model-sketches.js')});
    const { readModel } = await import(${from('src/onnx/serde/model-file.js')});
    const { writeJsonFile } = await import(${from('src/stage/json-file.js')});
    await writeJsonFile(outputs.sketches, encodeModelSketches(await sketchNoise(await readModel(inputs.model), params.part, 32)));
  },
};
`;
}
