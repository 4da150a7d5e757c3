/** The default pipeline on few images through the command line: each change reruns exactly what it reaches. The slow suite tests the accuracy on all images. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { decodeSafetensors, encodeSafetensors } from '../../src/tensor/formats/safetensors.js';
import { givenShapesProject, type ShapesProject } from '../support/shapes-project.js';

const QUANTIZE = ['quantize@backbone', 'quantize@box_head', 'quantize@mask_head'];
const AFTER_QUANTIZE = ['verify-quantize', 'tile-rois', 'verify-tiles', 'evaluate-int8', 'compile', 'bench', 'report'];

describe('the default pipeline', () => {
  let project: ShapesProject;
  beforeAll(() => {
    project = givenShapesProject(6);
  });
  afterAll(() => project.remove());

  it('builds everything from an empty cache, and prints the metrics of the three detectors side by side', () => {
    const built = project.build('--metrics', 'full');

    expect(built.failed).toEqual([]);
    expect(built.exitCode).toBe(0);
    expect(built.executed).toHaveLength(built.stages.size);
    expect(built.text).toMatch(/evaluate-float +evaluate-rewritten +evaluate-int8\n/);
    for (const type of ['bbox', 'segm'])
      for (const figure of ['AP', 'AP75', 'APlarge', 'AR1', 'ARlarge']) expect(built.text).toContain(`${type}.${figure} `);
    for (const { artifacts } of built.stages.values())
      for (const path of Object.values(artifacts)) expect(existsSync(project.path(path))).toBe(true);
  });

  it('ends with the headlines in one screen of 80 columns', () => {
    project.tanren('clean');
    const { text } = project.build();

    expect(text).toMatch(/ +evaluate-float +evaluate-rewritten +evaluate-int8\nbox AP +0\.\d+ .*\nmask AP +0\.\d+ .*\n/);
    expect(text).toMatch(
      /\nshare of the work on the NPU +100 % +compile\ntime per image, estimate for ryzen-ai stx-krk +[\d.]+ ms +compile\n/,
    );
    for (const form of ['float', 'int8'])
      expect(text).toMatch(new RegExp(`time per image, measured here, ${form} +[\\d.]+ ms ±[\\d.e-]+ ms +bench\n`));
    const screen = text.slice(text.indexOf('evaluate-float  evaluate-rewritten')).split('\n');
    expect(screen.length).toBeLessThan(24);
    expect(screen).toContain('report: artifacts/report/page.html');
    expect(Math.max(...screen.map(line => line.length))).toBeLessThanOrEqual(80);
  });

  it('puts the heads on tiles into the bundle beside those that take one RoI, with the same values', () => {
    const { stages } = project.build();
    const bundle = project.path(stages.get('compile')?.artifacts.bundle ?? '');
    const { models } = JSON.parse(readFileSync(`${bundle}/manifest.json`, 'utf8')) as {
      readonly models: readonly { readonly name: string }[];
    };

    expect(models.map(({ name }) => name)).toEqual(['backbone', 'box_head', 'box_head_tiles', 'mask_head', 'mask_head_tiles']);
    expect(stages.get('verify-tiles')?.metrics?.worst).toMatchObject({ maxAbs: 0, sqnrDb: 'equal' });
    expect(stages.get('compile')?.metrics?.total).toMatchObject({ npuMacShare: 1, cpuNodes: 0 });
  });

  it('runs nothing the second time, and reports it', () => {
    const { exitCode, stdout } = project.tanren('build');

    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^(✓ gate [^\n]+\n)*nothing to do: 26 stages up to date \(\d+ ms\)\n$/);
  });

  it('runs quantize and its dependents for another preset, and restores them for the first one', () => {
    expect(project.build('-p', 'preset=a8w8').executed).toEqual([...QUANTIZE, ...AFTER_QUANTIZE].sort(byPlan(project)));
    const back = project.build();
    expect(back.executed).toEqual([]);
    expect(back.restored).toEqual([...QUANTIZE, ...AFTER_QUANTIZE].sort(byPlan(project)));
  });

  it('rebuilds the dependents of the rewrite for its exact form, which changes no detection', () => {
    const built = project.build('-p', 'maxpool=depthwise');

    expect(built.exitCode).toBe(0);
    expect(built.executed).toContain('rewrite@backbone');
    for (const untouched of ['export', 'parts', 'simplify@backbone', 'rewrite@mask_head', 'evaluate-float'])
      expect(built.executed).not.toContain(untouched);
    expect(built.stages.get('evaluate-rewritten')?.metrics?.delta?.bbox?.AP).toBe(0);
    expect(built.stages.get('verify-rewrite')?.metrics?.worst?.sqnrDb).toBe('equal');
  });

  it('infers one sample for one more calibration image', () => {
    project.build();
    const built = project.build('-p', 'calibrationSamples=3');

    expect(built.exitCode).toBe(0);
    expect(built.executed).toContain('calibrate@mask_head');
    for (const part of ['backbone', 'box_head', 'mask_head']) {
      expect(project.tanren('log', `calibrate@${part}`, '-p', 'calibrationSamples=3').stdout).toMatch(
        /sketch\S*: 2 kept from earlier runs, 1 computed/,
      );
    }
  });

  it('with other weights in the mask head does not rebuild the backbone', () => {
    project.build();
    const checkpoint = project.path('examples/shapes/models/maskrcnn-shapes.safetensors');
    const before = readFileSync(checkpoint);
    const state = new Map(decodeSafetensors(new Uint8Array(before)).tensors);
    const name = 'roi_heads.mask_predictor.mask_fcn_logits.bias';
    const bias = state.get(name);
    if (bias === undefined) throw new Error(`${name} is gone`);
    const bytes = bias.bytes.slice();
    bytes[3] = (bytes[3] ?? 0) ^ 0x80; // the sign of the first value
    state.set(name, { ...bias, bytes });
    writeFileSync(checkpoint, encodeSafetensors(state));

    const built = project.build();

    expect(built.failed).toEqual([]);
    expect(built.executed).toEqual(
      expect.arrayContaining(['export', 'parts', 'simplify@mask_head', 'quantize@mask_head', 'evaluate-int8']),
    );
    for (const stopped of ['simplify@backbone', 'simplify@box_head', 'rewrite@backbone', 'quantize@backbone', 'quantize@box_head'])
      expect(built.executed).not.toContain(stopped);
    writeFileSync(checkpoint, before);
    expect(project.build().executed).toEqual([]);
  });
});

/** Orders ids as the plan does. */
function byPlan(project: ShapesProject): (a: string, b: string) => number {
  const { stages } = JSON.parse(project.tanren('graph', '--json').stdout) as { readonly stages: readonly { readonly stage: string }[] };
  const order = stages.map(({ stage }) => stage);
  return (a, b) => order.indexOf(a) - order.indexOf(b);
}
