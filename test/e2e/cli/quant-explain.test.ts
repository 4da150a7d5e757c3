/** `tanren quant explain` finds the tensor that users mean, in stages and in files, and says clearly what it does not find. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { writeModel } from '../../../src/onnx/serde/model-file.js';
import { type CliWorld, givenProject } from '../../support/cli-world.js';
import { encodeHeadSketches, smallHead } from '../../support/small-detector-head.js';

const PIPELINE = `
version: 1
sources: {model: head.onnx, sketches: sketches.json, recipe: recipe.json, annotations: annotations.json, images: images}
stages:
  simplify: {uses: simplify, with: {samples: 0}, inputs: {model: "\${sources.model}"}}
  quantize:
    foreach: [u8s8, a8w8]
    uses: quantize
    with: {preset: "\${item}"}
    inputs: {model: "\${sources.model}", sketches: "\${sources.sketches}"}
  never: {uses: quantize, inputs: {model: "\${sources.model}", sketches: "\${sources.sketches}"}}
  verify:
    uses: verify
    with: {part: backbone}
    inputs:
      reference: "\${sources.model}"
      candidate: quantize@u8s8.model
      recipe: "\${sources.recipe}"
      data: {annotations: "\${sources.annotations}", images: "\${sources.images}"}
`;

describe('tanren quant explain', () => {
  let world: CliWorld;
  beforeAll(async () => {
    world = givenProject({ 'pipeline.yaml': PIPELINE, 'recipe.json': '{}', 'annotations.json': '{}' });
    mkdirSync(join(world.folder, 'images'));
    await writeModel(join(world.folder, 'head.onnx'), smallHead());
    world.write('sketches.json', JSON.stringify(await encodeHeadSketches()));
    expect(world.run('build', 'quantize').exitCode).toBe(0);
  });
  afterAll(() => world.remove());

  it('a group selects every instance that has the tensor', () => {
    const { stdout, exitCode } = world.run('quant', 'explain', 'quantize', 'active');
    expect(stdout.match(/^active: .*$/gm)).toEqual([
      'active: uint8 activation of quantize@u8s8',
      'active: int8 activation of quantize@a8w8',
    ]);
    expect(exitCode).toBe(0);
  });

  it('as JSON has the same numbers as the report and the file', () => {
    const one = JSON.parse(world.run('quant', 'explain', 'quantize@u8s8', 'logits', '--json').stdout);
    const { tensor, report } = one.explanation;
    expect([tensor.scales, tensor.zeroPoints, tensor.isOutput]).toEqual([[report.entry.scale], [report.entry.zeroPoint], true]);
    expect(report.entry).toMatchObject({ method: 'min-max', saturationShare: 0, sqnrDb: expect.any(Number), elements: 384 });
  });

  it('shows the propagated error from a verify stage next to the own error', () => {
    const error = { value: 'logits', comparedWith: 'logits', node: 'second', opType: 'Conv', standardDeviation: 1 };
    const figures = { maxAbs: 0.25, cosine: 0.9999, sqnrDb: 31.5, elements: 384, broken: 0 };
    const propagated = [{ part: 'backbone', samples: 3, values: [{ ...error, ...figures }], unmatched: [] }];
    world.write('artifacts/verify/report.json', JSON.stringify({ images: [], values: {}, propagated }));
    expect(world.run('quant', 'explain', 'quantize@u8s8', 'logits').stdout).toContain(
      'propagated  SQNR 31.50 dB, cosine 0.9999000, max-abs 0.25 on 3 samples (verify)',
    );
    expect(world.run('quant', 'explain', 'quantize@a8w8', 'logits').stdout).not.toContain('propagated');
  });

  it.each([
    ['a missing stage', ['quantise', 'logits'], 'unknown-stage', 'did you mean "quantize"?'],
    ['a stage of another plugin', ['simplify', 'logits'], 'not-quantize', 'quantize@u8s8, quantize@a8w8, never'],
    ['a stage that was never built', ['never', 'logits'], 'not-built', 'tanren build never'],
    ['a missing tensor', ['quantize', 'logtis'], 'unknown-tensor', 'did you mean "logits"?'],
    ['a missing file', ['int8.onnx', 'logits'], 'model-unreadable', ''],
    ['a file that is no model', ['./sketches.json', 'logits'], 'model-malformed', ''],
  ])('%s is told with what to do', (_what, args, code, help) => {
    const { stderr, exitCode } = world.run('quant', 'explain', ...args);
    expect(stderr).toContain(`error[${code}]`);
    expect(stderr).toContain(help);
    expect(exitCode).toBe(2);
  });

  it('reports that a float model is not quantized', () => {
    expect(world.run('quant', 'explain', 'head.onnx', 'logits').stdout).toMatch(
      /^logits: float in head\.onnx\n {2}made by {2}Conv "second"/,
    );
  });

  it('writes nothing', () => {
    const before = world.listing();
    world.run('quant', 'explain', 'quantize', 'logits');
    expect(world.listing()).toEqual(before);
  });
});
