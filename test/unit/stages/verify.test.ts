/** The stage `verify`: figures, thresholds, runners, single parts and models. */
import { join } from 'node:path';
import type { JsonObject } from '../../../src/base/json.js';
import { cloneModel } from '../../../src/onnx/ir/clone.js';
import { getValue, replaceAllUses } from '../../../src/onnx/ir/edit.js';
import type { Model } from '../../../src/onnx/ir/model.js';
import { writeModel } from '../../../src/onnx/serde/model-file.js';
import { extractSubgraph } from '../../../src/onnx/surgery/extract.js';
import { findPropagatedErrors } from '../../../src/quant/compare/propagated-error.js';
import type { InputPaths } from '../../../src/stage/define-stage.js';
import { readJsonFile } from '../../../src/stage/json-file.js';
import { capture } from '../../../stages/capture/stage.js';
import { VERIFY_REPORT, type VerifyReport } from '../../../stages/verify/report-schema.js';
import { verify } from '../../../stages/verify/stage.js';
import { failureOf } from '../../support/error-code.js';
import { parseDocument } from '../../support/parse-document.js';
import { givenFolder, parseParams, runStage, type StageRun } from '../../support/run-stage.js';
import { CPU_RUNNER } from '../../support/runner-host.js';
import { exportShapes } from '../../support/shapes.js';
import { type ShapesFiles, writeShapes } from '../../support/shapes-files.js';

/** A bound that allows outputs below 5 dB. */
const ANY_SQNR = { minSqnrDb: -100 };

const folder = givenFolder('verify');
let files: ShapesFiles;
let wrongParts: Record<string, string>;

beforeAll(async () => {
  files = await writeShapes(folder.path);
  const path = join(folder.path, 'wrong.onnx');
  await writeModel(path, withoutRelu(files.backbone));
  wrongParts = { ...files.parts, backbone: path };
});

/** A wrong rewrite: the last ReLU of the body is dropped. */
function withoutRelu(model: Model): Model {
  const wrong = cloneModel(model);
  const { graph } = wrong;
  const relu = [...graph.nodes.values()].filter(node => node.opType === 'Relu' && node.name.includes('layer4')).at(-1);
  const [from, to] = [relu?.outputs[0], relu?.inputs[0]];
  if (from === undefined || to === undefined) throw new Error(`no ReLU among ${[...graph.nodes.values()].map(node => node.name).join()}`);
  replaceAllUses(graph, getValue(graph, from).id, getValue(graph, to).id);
  return wrong;
}

function run(params: JsonObject, inputs: InputPaths): Promise<StageRun> {
  const shared = { recipe: files.recipe, config: files.config, data: files.val };
  return runStage(verify, { params, inputs: { ...shared, ...inputs }, folder: folder.path });
}

const readReport = async (outputs: StageRun['outputs']): Promise<VerifyReport> =>
  parseDocument(VERIFY_REPORT, await readJsonFile(outputs.report ?? ''));

describe('verify', () => {
  it('the parts equal the whole bit for bit at the basic optimization level', async () => {
    const params = {
      reference: 'whole',
      samples: 2,
      optimization: 'basic',
      thresholds: { maxAbs: 0, maxMissed: 0, maxExtra: 0, maxScoreDifference: 0, minMaskIou: 1 },
    };
    const { outputs, log } = await run(params, { reference: files.whole, candidate: files.parts });
    const metrics = await readJsonFile(outputs.metrics ?? '');
    expect(metrics).toMatchObject({
      worst: { maxAbs: 0, cosine: 1, sqnrDb: 'equal' },
      detections: { reference: 17, candidate: 17, matched: 17, missed: 0, extra: 0, minBoxIou: 1 },
    });
    expect(Object.keys((metrics as { values: object }).values)).toHaveLength(17);
    expect(log).toContainEqual(expect.stringMatching(/feature_0: SQNR equal/));
    expect(await readReport(outputs)).toMatchObject({ images: [1000, 1007] });
  });

  it('a wrong rewrite fails and names the values', async () => {
    const failure = await failureOf(() =>
      run({ samples: 1, thresholds: { minSqnrDb: 30 } }, { reference: files.parts, candidate: wrongParts }),
    );
    expect(failure.code).toBe('verify-missed');
    expect(failure.message).toMatch(/feature_3: SQNR in dB -?[\d.]+, expected at least 30/);
    expect(failure.message).not.toContain('mask_logits');
  });

  it('a wrong rewrite also changes the detections', async () => {
    const { outputs } = await run({ samples: 3, thresholds: ANY_SQNR }, { reference: files.parts, candidate: wrongParts });
    const metrics = (await readJsonFile(outputs.metrics ?? '')) as {
      detections: { matched: number; reference: number; maxScoreDifference: number };
    };
    expect(metrics.detections.maxScoreDifference).toBeGreaterThan(1e-3);
    const failure = await failureOf(() =>
      run({ samples: 3, thresholds: { ...ANY_SQNR, maxScoreDifference: 1e-3 } }, { reference: files.parts, candidate: wrongParts }),
    );
    expect(failure.message).toMatch(/detections: largest score difference/);
  });

  it('bounds by value name apply to that value, `default` to the others', async () => {
    const failure = await failureOf(() =>
      run({ samples: 1, thresholds: { minSqnrDb: { feature_3: 60, default: -100 } } }, { reference: files.parts, candidate: wrongParts }),
    );
    expect(failure.message).toMatch(/^1 threshold is missed on 1 images: feature_3/);
  });

  it.each([
    ['backbone', 14],
    ['box_head', 2],
    ['mask_head', 1],
  ] as const)('%s alone is compared on what it really sees', async (part, count) => {
    const inputs = { reference: files.parts[part], candidate: files.parts[part], detector: files.parts };
    const { outputs } = await run({ part, images: [1014], thresholds: { maxAbs: 0 } }, inputs);
    const report = await readReport(outputs);
    expect(report.images).toEqual([1014]);
    expect(Object.values(report.values)).toHaveLength(count);
    for (const { elements } of Object.values(report.values)) expect(elements).toBeGreaterThan(0);
  });

  it.each([
    ['a threshold for a missing value', { thresholds: { maxAbs: { absent: 0 } }, samples: 1 }, 'verify-unknown-value'],
    ['a missing image', { images: [3] }, 'unknown-image'],
    ['more samples than images', { samples: 1000 }, 'too-few-images'],
  ])('%s is refused', async (_, params, code) => {
    expect(await failureOf(() => run(params, { reference: files.parts, candidate: files.parts }))).toMatchObject({ code });
  });

  it('a model of another part is refused because of its value names', async () => {
    const failure = await failureOf(() => run({ part: 'backbone' }, { reference: files.parts.backbone, candidate: files.parts.box_head }));
    expect(failure).toMatchObject({ code: 'part-values', message: expect.stringContaining('image') });
  });

  describe('with an external runner', () => {
    const onRunner = (changes: JsonObject = {}): JsonObject => ({
      samples: 2,
      runner: 'external',
      external: { command: [process.execPath, CPU_RUNNER], device: 'cpu', ...changes },
    });

    it('runs the candidate there, with the same result as this machine with the same provider', async () => {
      const params = { ...onRunner(), thresholds: { maxAbs: 0, maxMissed: 0, maxExtra: 0, maxScoreDifference: 0, minMaskIou: 1 } };
      const { outputs } = await run(params, { reference: files.parts, candidate: files.parts });
      expect(await readJsonFile(outputs.metrics ?? '')).toMatchObject({ worst: { maxAbs: 0 }, detections: { matched: 17 } });
    });

    it('runs only one part there', async () => {
      const inputs = { reference: files.parts.mask_head, candidate: files.parts.mask_head, detector: files.parts };
      const { outputs } = await run({ ...onRunner(), part: 'mask_head', thresholds: { maxAbs: 0 } }, inputs);
      expect(await readJsonFile(outputs.metrics ?? '')).toMatchObject({ worst: { maxAbs: 0 } });
    });

    it('gives no result if the CPU runs the model instead of the NPU', async () => {
      const failing = run(onRunner({ device: 'npu' }), { reference: files.parts, candidate: files.parts });
      expect(await failureOf(() => failing)).toMatchObject({ code: 'runner-cpu-fallback' });
    });
  });

  it('contradictory params are refused', () => {
    expect(() => parseParams(verify, { part: 'backbone', reference: 'whole' })).toThrow('remove `reference` and `candidate`');
    expect(() => parseParams(verify, { part: 'backbone', thresholds: { maxMissed: 0 } })).toThrow('require the whole detector');
    expect(() => parseParams(verify, { runner: 'external' })).toThrow('with the command that starts the runner');
    expect(() => parseParams(verify, { external: { command: ['x'] } })).toThrow('`external` requires runner: external');
    expect(() => parseParams(verify, { simulate: {} })).toThrow('`simulate` requires runner: simulate');
  });

  it('with `values: all` the first changed value of each part is named', async () => {
    const { outputs } = await run({ samples: 1, values: 'all', thresholds: ANY_SQNR }, { reference: files.parts, candidate: wrongParts });
    const errors = findPropagatedErrors(await readJsonFile(outputs.report ?? '')) ?? [];
    expect(errors.map(({ part, samples }) => [part, samples])).toEqual([
      ['backbone', 1],
      ['box_head', 1],
      ['mask_head', 1],
    ]);
    const moved = errors.flatMap(({ values }) => values.filter(({ maxAbs }) => maxAbs > 0));
    // The reader of the removed ReLU changes first; heads get equal inputs.
    expect(moved[0]?.node).toMatch(/fpn.*inner|inner/);
    const [, ...heads] = errors;
    expect(heads.flatMap(({ values }) => values.filter(({ maxAbs }) => maxAbs > 0))).toEqual([]);
    expect(errors[0]?.values.length).toBeGreaterThan(100);
  });

  describe('without a detector', () => {
    const captureParts = async (params: JsonObject = {}): Promise<string> => {
      const inputs = { detector: files.parts, recipe: files.recipe, config: files.config, data: files.val };
      const { outputs } = await runStage(capture, { params: { samples: 3, ...params }, inputs, folder: folder.path });
      return outputs.captured ?? '';
    };
    const alone = (params: JsonObject, inputs: InputPaths) => runStage(verify, { params, inputs, folder: folder.path });

    it('parts reproduce their captured outputs bit for bit; a wrong one does not', async () => {
      const reference = await captureParts();
      const params = { reference: 'captured', samples: 3 };
      const { outputs } = await alone({ ...params, thresholds: { maxAbs: 0 } }, { reference, candidate: files.parts });
      const report = await readReport(outputs);
      expect(report).toMatchObject({ samples: ['1000', '1007', '1014'] });
      expect(Object.keys(report.values)).toHaveLength(17);
      const failure = await failureOf(() => alone({ ...params, thresholds: { minSqnrDb: 60 } }, { reference, candidate: wrongParts }));
      expect(failure).toMatchObject({ code: 'verify-missed', message: expect.stringContaining('feature_3') });
    });

    it('a head with a fixed batch runs in batches of that size', async () => {
      const reference = await captureParts({ rois: { max: 21 } });
      const { model, recipe } = await exportShapes({ roiBatch: 8 });
      const path = join(folder.path, 'fixed.onnx');
      await writeModel(path, extractSubgraph(model, recipe.parts.box_head));
      const params = { reference: 'captured', candidate: 'model', part: 'box_head', samples: 2, thresholds: { minSqnrDb: 100 } };
      const { outputs } = await alone(params, { reference, candidate: path });
      expect(await readJsonFile(outputs.report ?? '')).toMatchObject({ values: { class_logits: { elements: 2 * 21 * 12, broken: 0 } } });
    });

    it('one model is compared with one captured part', async () => {
      const reference = await captureParts();
      const params = { reference: 'captured', candidate: 'model', samples: 2 };
      const { outputs } = await alone({ ...params, part: 'mask_head' }, { reference, candidate: files.parts.mask_head });
      expect(await readJsonFile(outputs.metrics ?? '')).toMatchObject({ values: { mask_logits: { maxAbs: 0 } } });
      expect(await failureOf(() => alone(params, { reference, candidate: files.parts.mask_head }))).toMatchObject({ code: 'capture-part' });
      const wrong = () => alone({ ...params, part: 'mask_head' }, { reference, candidate: files.parts.backbone });
      expect(await failureOf(wrong)).toMatchObject({ code: 'part-values' });
    });

    it('two models are compared on captured inputs, including inner values', async () => {
      const captured = await captureParts();
      const params = { reference: 'model', candidate: 'model', part: 'backbone', samples: 1, values: 'all', thresholds: ANY_SQNR };
      const { outputs } = await alone(params, { reference: files.parts.backbone, candidate: wrongParts.backbone, captured });
      const report = await readReport(outputs);
      expect(findPropagatedErrors(report)?.map(({ part }) => part)).toEqual(['backbone']);
      expect(report).toMatchObject({ samples: ['1000'] });
    });

    it.each([
      [{ reference: 'model' }, 'requires `candidate: model`'],
      [{ reference: 'captured', candidate: 'whole' }, 'requires `candidate: parts`'],
      [{ reference: 'captured', values: 'all' }, 'requires the models of the parts'],
      [{ reference: 'captured', thresholds: { maxMissed: 0 } }, 'require the whole detector'],
      [{ preprocess: {} }, '`preprocess` requires `reference: model`'],
    ])('%j is refused', (params, message) => {
      expect(() => parseParams(verify, params)).toThrow(message);
    });
  });
});
