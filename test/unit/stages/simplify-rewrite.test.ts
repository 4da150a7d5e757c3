/** The stages `simplify` and `rewrite`: proofs, prices, edits, errors. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isJsonObject, type Json, type JsonObject } from '../../../src/base/json.js';
import { float, ints } from '../../../src/onnx/ir/attribute.js';
import { readModel, writeModel } from '../../../src/onnx/serde/model-file.js';
import { readJsonFile, writeJsonFile } from '../../../src/stage/json-file.js';
import { encodeNpz } from '../../../src/tensor/formats/npz.js';
import { calibrate } from '../../../stages/calibrate/stage.js';
import { rewrite } from '../../../stages/rewrite/stage.js';
import { assertProved, type Proof } from '../../../stages/simplify/proof.js';
import { simplify } from '../../../stages/simplify/stage.js';
import { split } from '../../../stages/split/stage.js';
import { failureOf } from '../../support/error-code.js';
import { operators, runModel } from '../../support/look-at-model.js';
import { makeJpeg } from '../../support/make-jpeg.js';
import { maxDifference } from '../../support/max-difference.js';
import { givenFolder, parseParams, runStage, type StageRun } from '../../support/run-stage.js';
import { floats, randomConstant, randomFloats, smallModel } from '../../support/small-model.js';
import { writeTinyMaskRcnn } from '../../support/tiny-maskrcnn-files.js';

const folder = givenFolder('simplify');
let parts: StageRun['outputs'];
const at = (name: string): string => join(folder.path, name);

beforeAll(async () => {
  const inputs = await writeTinyMaskRcnn(folder.path);
  parts = (await runStage(split, { params: { recipe: 'maskrcnn' }, inputs, folder: folder.path })).outputs;
});

const runSimplify = (model: string | undefined, params: JsonObject = {}) =>
  runStage(simplify, { params, inputs: { model: model ?? '' }, folder: folder.path });

const runRewrite = (model: string | undefined, params: JsonObject, inputs: Record<string, string | Record<string, string>> = {}) =>
  runStage(rewrite, { params, inputs: { model: model ?? '', ...inputs }, folder: folder.path });

async function reportOf({ outputs }: StageRun): Promise<JsonObject> {
  const report = await readJsonFile(outputs.report ?? '');
  return isJsonObject(report) ? report : {};
}

const field = (value: Json | undefined, name: string): Json | undefined => (isJsonObject(value) ? value[name] : undefined);

describe('rewrite with sketches', () => {
  const network = () =>
    smallModel({
      inputs: { x: ['float32', [1, 3, 8, 8]] },
      constants: { w1: randomConstant([4, 3, 1, 1], 1), b1: floats([4], [50, 0, -1, 30]), w2: randomConstant([2, 4, 1, 1], 2) },
      nodes: [
        { op: 'Conv', name: 'one', in: ['x', 'w1', 'b1'], out: ['c'] },
        { op: 'Relu', in: ['c'], out: ['r'] },
        { op: 'Conv', name: 'two', in: ['r', 'w2'], out: ['y'] },
      ],
      outputs: ['y'],
    });
  const rules = { rules: [{ name: 'absorb-biases' }] };

  it('reads the ranges that calibrate has seen, and refuses those of another model', async () => {
    await writeModel(at('linked.onnx'), network());
    const x = randomFloats([1, 3, 8, 8], 3);
    await writeFile(at('x.npz'), encodeNpz(new Map([['x', x]])));
    const { outputs } = await runStage(calibrate, {
      params: { perChannel: true },
      inputs: { model: at('linked.onnx'), tensors: at('x.npz') },
      folder: folder.path,
    });
    const run = await runRewrite(at('linked.onnx'), rules, { sketches: outputs.sketches ?? '' });
    const [before, after] = [await runModel(network(), { x }), await runModel(await readModel(run.outputs.model ?? ''), { x })];
    // Products of numbers up to 50 with weights below 1, in float32.
    expect(maxDifference(Array.from(before.y?.data ?? [], Number), Array.from(after.y?.data ?? [], Number))).toBeLessThan(1e-4);
    const other = run.outputs.model ?? '';
    expect((await failureOf(() => runRewrite(other, rules, { sketches: outputs.sketches ?? '' }))).code).toBe('sketches-of-another-model');
    expect((await failureOf(() => runRewrite(at('linked.onnx'), rules))).message).toContain('the range of its input is not known');
  });
});

describe('simplify', () => {
  it.each(['backbone', 'box_head', 'mask_head'])('folds every BatchNormalization of %s with a proof', async part => {
    const run = await runSimplify(parts[part]);
    const model = await readModel(run.outputs.model ?? '');
    expect(operators(model)).not.toContain('BatchNormalization');
    expect(operators(model)).not.toContain('Identity');
    const report = await reportOf(run);
    expect(field(report.proof, 'class')).toBe('rounding');
    expect(field(report.proof, 'samples')).toBe(2);
    const before = await readModel(parts[part] ?? '');
    const names = (graph: typeof model.graph, ids: typeof model.graph.inputs) => ids.map(id => graph.values.get(id)?.name);
    expect(names(model.graph, model.graph.inputs)).toEqual(names(before.graph, before.graph.inputs));
    expect(names(model.graph, model.graph.outputs)).toEqual(names(before.graph, before.graph.outputs));
  });

  it('gives the same bytes again', async () => {
    const [first, second] = [await runSimplify(parts.backbone), await runSimplify(parts.backbone)];
    for (const port of ['model', 'report'])
      expect((await readFile(first.outputs[port] ?? '')).equals(await readFile(second.outputs[port] ?? ''))).toBe(true);
  });

  it('simplifying twice gives the same bytes as once', async () => {
    const first = await runSimplify(parts.box_head);
    const second = await runSimplify(first.outputs.model);
    expect((await readFile(first.outputs.model ?? '')).equals(await readFile(second.outputs.model ?? ''))).toBe(true);
  });

  it('a skipped pass keeps its nodes', async () => {
    const run = await runSimplify(parts.mask_head, { skip: ['fold-batch-normalization'] });
    expect(operators(await readModel(run.outputs.model ?? ''))).toContain('BatchNormalization');
    expect(field((await reportOf(run)).proof, 'class')).toBe('exact');
  });

  it('an unknown pass is an error with the nearest name', async () => {
    const failure = await failureOf(() => runSimplify(parts.mask_head, { skip: ['fold-batch-normalisation'] }));
    expect(failure.code).toBe('unknown-pass');
  });

  it('refuses an output that is not equal, with its name and figures', async () => {
    const figures = { maxAbs: 0.01, sqnrDb: 40, standardDeviation: 1, shapes: 'equal', broken: 0 } as const;
    const compared = { ...figures, cosine: 1, elements: 9, magnitude: 3, differentBits: 1, differentZeros: 0 };
    const proof: Proof = {
      class: 'exact',
      samples: 1,
      tolerance: 1e-3,
      sigmoids: [],
      spread: {},
      boundedLoops: 0,
      outputs: { y: compared },
      unequal: { output: 'y', reason: '1 of 9 elements differ' },
    };
    const { code, message } = await failureOf(() => assertProved(proof));
    expect([code, message]).toEqual([
      'simplify-not-equal',
      'output "y" of the simplified model differs: 1 of 9 elements differ; only exact passes fired',
    ]);
    assertProved({ ...proof, unequal: undefined });
  });
});

describe('rewrite', () => {
  it('lists the host steps for cut operations, and measures no price', async () => {
    await writeModel(
      at('head.onnx'),
      smallModel({
        inputs: { image: ['float32', [1, 2, 3, 4]] },
        constants: { w: randomConstant([4, 2, 1, 1]) },
        nodes: [
          { op: 'Conv', in: ['image', 'w'], out: ['c'] },
          { op: 'Transpose', in: ['c'], out: ['boxes'], attributes: { perm: ints([0, 2, 3, 1]) } },
        ],
        outputs: ['boxes'],
      }),
    );
    const run = await runRewrite(at('head.onnx'), { rules: [{ name: 'cut-moves', form: 'trailing' }] });
    const { rules, price } = await reportOf(run);
    expect(rules).toMatchObject([
      { applied: [{ host: { side: 'output', end: 'boxes', steps: [{ op: 'Transpose', perm: [0, 2, 3, 1] }] } }] },
    ]);
    expect(price).toMatchObject({ measured: false, reason: expect.stringContaining('run on the host') });
    expect(operators(await readModel(run.outputs.model ?? ''))).toEqual(['Conv']);
  });

  async function givenData(): Promise<Record<string, string>> {
    const images = [3, 1, 2].map(id => ({ id, file_name: `${id}.jpg`, width: 96, height: 64 }));
    for (const { id, file_name } of images) await writeFile(at(file_name), await makeJpeg(96, 64, id));
    await writeJsonFile(at('annotations.json'), { images, annotations: [], categories: [] });
    return { annotations: at('annotations.json'), images: folder.path };
  }

  it.each([
    ['3x3', 'approximate'],
    ['depthwise', 'exact'],
    ['slice', 'exact'],
  ])('form %s reports its proof class, the node, and the price on real images', async (form, proof) => {
    const run = await runRewrite(
      parts.backbone,
      { rules: [{ name: 'maxpool-1x1', form }], samples: 2 },
      { recipe: at('recipe.json'), data: await givenData() },
    );
    const report = await reportOf(run);
    expect(report.proof).toBe(proof);
    expect(field(report.price, 'samples')).toEqual(['1.jpg', '2.jpg']);
    const prices = field(report.price, 'outputs');
    const pool = isJsonObject(prices) ? Object.entries(prices).filter(([, figures]) => field(figures, 'maxAbs') !== 0) : [];
    expect(pool.length > 0).toBe(form === '3x3');
    for (const [name] of pool) expect(name).toMatch(/4$/);
  });

  it('without data the report states that the price was not measured', async () => {
    const run = await runRewrite(parts.backbone, { rules: [{ name: 'maxpool-1x1', form: 'slice' }] });
    expect((await reportOf(run)).price).toEqual({ measured: false, reason: 'data and recipe are not both connected' });
    const head = await runRewrite(
      parts.box_head,
      { rules: [{ name: 'maxpool-1x1', form: 'slice', matches: 'any' }] },
      { recipe: at('recipe.json'), data: await givenData() },
    );
    expect(field((await reportOf(head)).price, 'reason')).toBe(`the model's inputs are "box_features", but an image gives "image"`);
  });

  it('a rule that applies nowhere fails, except with matches: any', async () => {
    expect((await failureOf(() => runRewrite(parts.box_head, { rules: [{ name: 'maxpool-1x1', form: 'slice' }] }))).code).toBe(
      'rule-matches-nothing',
    );
  });

  it('manual edits have no proof, and report the change', async () => {
    const model = smallModel({
      inputs: { x: ['float32', [1, 3, 4, 4]] },
      constants: { w: randomConstant([3, 3, 1, 1]), k: floats([1], [2]) },
      nodes: [
        { op: 'Conv', in: ['x', 'w'], out: ['c'], attributes: { strides: ints([1, 1]) } },
        { op: 'LeakyRelu', in: ['c'], out: ['l'], attributes: { alpha: float(0.1) } },
        { op: 'Mul', in: ['l', 'k'], out: ['y'] },
      ],
      outputs: ['y'],
    });
    await writeModel(at('small.onnx'), model);
    const run = await runRewrite(at('small.onnx'), {
      edits: [
        { select: { op: 'LeakyRelu' }, setAttribute: { name: 'alpha', type: 'float', value: 0.125 } },
        { constant: 'k', setConstant: { dtype: 'float32', values: [3] } },
      ],
    });
    const report = await reportOf(run);
    expect(report.proof).toBe('approximate');
    expect(report.edits).toHaveLength(2);
    expect(run.log.join('\n')).toContain('LeakyRelu "l": attribute alpha was 0.1, is 0.125');
  });

  it.each([
    [{ rules: [{ name: 'maxpool' }] }, 'unknown rule "maxpool"'],
    [{ rules: [{ name: 'maxpool-1x1', form: '3×3' }] }, 'did you mean "3x3"?'],
    [{ edits: [{ select: 'a' }] }, 'set exactly one of setAttribute, deleteAttribute, setConstant'],
    [{ edits: [{ deleteAttribute: 'a' }] }, 'set either select (a node) or constant (an initializer)'],
    [{ edits: [{ constant: 'k', deleteAttribute: 'a' }] }, 'constant (an initializer) requires setConstant'],
    [{ edits: [{ select: 'a', setConstant: { dtype: 'int8', values: [] } }] }, 'setConstant of a node needs the index of the input'],
  ])('params %j are refused while planning', (params, message) => {
    expect(() => parseParams(rewrite, params)).toThrow(message);
  });
});
