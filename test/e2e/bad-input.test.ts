/** Damaged or wrong input files give one clear error of the stage that reads them, without paths of run folders; with the right file, the next build is right. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { decodeSafetensors, encodeSafetensors } from '../../src/tensor/formats/safetensors.js';
import { givenShapesProject, type ShapesProject } from '../support/shapes-project.js';

const CHECKPOINT = 'examples/shapes/models/maskrcnn-shapes.safetensors';
const CONFIG = 'examples/shapes/models/maskrcnn-shapes.json';
const CALIB = 'examples/shapes/data/instances_calib.json';
const VAL = 'examples/shapes/data/instances_val.json';
const VAL_IMAGE = 'examples/shapes/data/val/000000001000.jpg';
const CALIB_IMAGE = 'examples/shapes/data/calib/000000005000.jpg';

let project: ShapesProject;
beforeAll(() => {
  project = givenShapesProject(2);
  expect(project.build('export', 'evaluate-float', 'simplify').exitCode).toBe(0);
});
afterAll(() => project.remove());

type Damage = (bytes: Buffer) => Uint8Array | string | 'missing' | 'folder';

const withoutTensor: Damage = bytes => {
  const { tensors, metadata } = decodeSafetensors(bytes);
  const renamed = [...tensors].map(([name, tensor]): [string, typeof tensor] => [
    name === 'backbone.body.bn1.bias' ? 'stray.bias' : name,
    tensor,
  ]);
  return encodeSafetensors(new Map(renamed), metadata);
};
const withoutImages: Damage = bytes => JSON.stringify({ ...(JSON.parse(bytes.toString('utf8')) as object), images: [], annotations: [] });
const half: Damage = bytes => bytes.subarray(0, bytes.length / 2);

describe('an input', () => {
  it.each<[string, string, Damage, string, string, RegExp]>([
    ['a missing checkpoint', CHECKPOINT, () => 'missing', 'export', 'input-missing', /maskrcnn-shapes\.safetensors does not exist/],
    [
      'a folder for a checkpoint',
      CHECKPOINT,
      () => 'folder',
      'export',
      'file-unreadable',
      /^input "checkpoint": checkpoint is not a file$/,
    ],
    ['half a checkpoint', CHECKPOINT, half, 'export', 'truncated', /^input "checkpoint": tensor ".*" ends at byte \d+ of a buffer of \d+$/],
    ['an empty checkpoint', CHECKPOINT, () => '', 'export', 'truncated', /^input "checkpoint": a file of 0 bytes/],
    ['a text for a checkpoint', CHECKPOINT, () => 'no checkpoint at all', 'export', 'unknown-format', /neither \.safetensors nor/],
    [
      'a tensor of another name',
      CHECKPOINT,
      withoutTensor,
      'export',
      'checkpoint-mismatch',
      /1 missing: backbone\.body\.bn1\.bias; 1 unexpected: stray\.bias/,
    ],
    ['half a config', CONFIG, half, 'export', 'json-malformed', /^input "config": config\.json is not JSON/],
    ['an empty config', CONFIG, () => '{}', 'export', 'bad-config', /7 problems: input: should be an object, it is missing/],
    [
      'an image that does not decode',
      VAL_IMAGE,
      () => 'no image',
      'evaluate-float',
      'image-decode',
      /"000000001000\.jpg" cannot be decoded/,
    ],
    ['half an image', VAL_IMAGE, half, 'evaluate-float', 'image-decode', /premature end/],
    [
      'an image without file',
      VAL_IMAGE,
      () => 'missing',
      'evaluate-float',
      'image-missing',
      /image 1000: the image folder "[^"]+" has no file "000000001000\.jpg"/,
    ],
    ['half an annotations file', VAL, half, 'evaluate-float', 'json-malformed', /annotations\.json is not JSON/],
    ['annotations without images', VAL, withoutImages, 'evaluate-float', 'no-images', /the data set has no images/],
    ['an empty calibration set', CALIB, withoutImages, 'capture', 'no-images', /the data set has no images/],
    ['a calibration image that does not decode', CALIB_IMAGE, () => 'no image', 'capture', 'image-decode', /image 5000/],
  ])('%s', (_what, file, damage, stage, code, message) => {
    const path = project.path(file);
    const right = readFileSync(path);
    const wrong = damage(right);
    rmSync(path);
    if (wrong === 'folder') mkdirSync(path);
    else if (wrong !== 'missing') writeFileSync(path, wrong);
    try {
      const { exitCode, stages, failed } = project.build(stage);
      const outcome = stages.get(stage)?.outcome;
      expect(failed).toEqual([stage]);
      expect(outcome?.failure?.code).toBe(code);
      expect(outcome?.failure?.message).toMatch(message);
      expect(outcome?.failure?.message).not.toContain('cache/tmp');
      expect(exitCode).toBe(1);
    } finally {
      rmSync(path, { recursive: true, force: true });
      writeFileSync(path, right);
    }
    if (stage === 'capture') return;
    const next = project.build(stage);
    expect([next.exitCode, next.executed]).toEqual([0, []]);
  });

  it.each<[string, string]>([
    ['simplify', 'model-malformed'],
    ['evaluate', 'model-load'],
  ])('half a model given to %s', (plugin, code) => {
    const parts = (backbone: string): string =>
      `{backbone: "\${sources.${backbone}}", box_head: "\${sources.box}", mask_head: "\${sources.mask}"}`;
    const inputs =
      plugin === 'simplify'
        ? `{model: "\${sources.half}"}`
        : `{parts: ${parts('half')}, recipe: "\${sources.recipe}", config: "\${sources.config}", data: "\${sources.val}"}`;
    writeFileSync(project.path('half.onnx'), half(readFileSync(project.path('artifacts/parts/backbone.onnx'))));
    writeFileSync(
      project.path('half.yaml'),
      `version: 1
sources:
  half: half.onnx
  box: artifacts/parts/box_head.onnx
  mask: artifacts/parts/mask_head.onnx
  recipe: artifacts/export/recipe.json
  config: ${CONFIG}
  val: {annotations: ${VAL}, images: examples/shapes/data/val}
stages:
  act: {uses: ${plugin}, inputs: ${inputs}}
`,
    );
    const { exitCode, stages } = project.build('-f', 'half.yaml');
    expect(stages.get('act')?.outcome.failure?.code).toBe(code);
    expect(stages.get('act')?.outcome.failure?.message).toMatch(/(model|backbone)\.onnx/);
    expect(stages.get('act')?.outcome.failure?.message).not.toContain('cache/tmp');
    expect(exitCode).toBe(1);
  });

  it('a file in the place of artifacts/: the result is stored, and published after the file is removed', () => {
    rmSync(project.path('artifacts'), { recursive: true });
    writeFileSync(project.path('artifacts'), 'mine');
    const { exitCode, stages } = project.build('export');
    expect(stages.get('export')?.outcome.failure?.code).toBe('not-published');
    expect(exitCode).toBe(1);
    expect(readFileSync(project.path('artifacts'), 'utf8')).toBe('mine');

    rmSync(project.path('artifacts'));
    const next = project.build('export');
    expect([next.exitCode, next.restored]).toEqual([0, ['export']]);
  });

  it('a folder in the place of a pipeline file is reported as a folder', () => {
    mkdirSync(project.path('folder.yaml'));
    const { exitCode, stderr } = project.tanren('build', '-f', 'folder.yaml');
    expect(stderr).toContain('error[no-pipeline]: folder.yaml: it is a folder');
    expect(exitCode).toBe(2);
  });
});
