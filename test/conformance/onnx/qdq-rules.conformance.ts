/** Conformance of rules on real quantized models: all quantized values are kept. Oracle: ONNX Runtime on the original models. */
import { join } from 'node:path';
import { cloneModel } from '../../../src/onnx/ir/clone.js';
import type { Graph, Model, Value } from '../../../src/onnx/ir/model.js';
import { simplifyToFixedPoint } from '../../../src/onnx/passes/simplify.js';
import { rewriteModel } from '../../../src/onnx/rewrite/rewrite-model.js';
import { getRule } from '../../../src/onnx/rules/target/get-rule.js';
import { encodeModel } from '../../../src/onnx/serde/encode-model.js';
import { readModel } from '../../../src/onnx/serde/model-file.js';
import { inferShapes, writeTypes } from '../../../src/onnx/shape-inference/infer-shapes.js';
import { extractSubgraph } from '../../../src/onnx/surgery/extract.js';
import { PRESETS, type PresetName } from '../../../src/quant/scheme/scheme.js';
import { evaluate } from '../../../src/runtime/session/evaluate.js';
import { openSession } from '../../../src/runtime/session/session.js';
import { readNpz } from '../../../src/tensor/formats/npz.js';
import { encodeRawTensor } from '../../../src/tensor/raw-tensor.js';
import { makeTensor, type Tensor } from '../../../src/tensor/tensor.js';
import { recordedFeeds } from '../../support/detector-parts.js';
import { listProblems } from '../../support/look-at-model.js';
import { quantizeOn } from '../../support/quantize-small.js';
import { exportShapes } from '../../support/shapes.js';
import { findSharedFolder } from '../../support/shared-folder.js';

const shared = findSharedFolder();
const at = (path: string): string => join(shared ?? '', path);
type Feeds = Readonly<Record<string, Tensor>>;

const simplified = async (model: Model): Promise<Model> => {
  await simplifyToFixedPoint(model, { evaluate, check: listProblems, foldLimitBytes: 1 << 20 });
  return model;
};

async function sampleFeeds(folder: string, name: string): Promise<Feeds> {
  const { dims, data } = (await readNpz(at(`models/${folder}/sample.npz`))).get(`input:${name}`);
  return { [name]: makeTensor('float32', dims, Float32Array.from(data as ArrayLike<number>)) };
}

/** Applies a rule wherever it matches. */
function rewritten(model: Model, rule: string): { readonly model: Model; readonly applied: number } {
  const [name = '', form] = rule.split('/');
  const copy = cloneModel(model);
  const { rules } = rewriteModel(copy, { rules: [{ rule: getRule(name, form), matches: 'any' }], edits: [], check: listProblems });
  return { model: copy, applied: rules[0]?.applied.length ?? 0 };
}

const quantizedValues = ({ nodes, values }: Graph): readonly Value[] =>
  [...nodes.values()]
    .filter(({ opType }) => opType === 'QuantizeLinear')
    .map(({ outputs: [output] }) => (output === undefined ? undefined : values.get(output)))
    .filter(value => value !== undefined);

/** Runs `model` with the values named as further outputs. */
async function run(model: Model, names: ReadonlySet<string>, feeds: Feeds): Promise<Feeds> {
  const copy = cloneModel(model);
  writeTypes(copy, inferShapes(copy));
  for (const value of quantizedValues(copy.graph))
    if (names.has(value.name) && !copy.graph.outputs.includes(value.id)) copy.graph.outputs.push(value.id);
  const session = await openSession(encodeModel(copy), { optimization: 'disabled' });
  try {
    return await session.run(feeds);
  } finally {
    await session.close();
  }
}

/** Elements of the values that both have under one name, and how many of them differ, by value. */
async function compare(before: Model, after: Model, feeds: Feeds): Promise<{ compared: number; differences: Record<string, number> }> {
  const kept = new Set(quantizedValues(after.graph).map(({ name }) => name));
  const names = new Set(
    quantizedValues(before.graph)
      .map(({ name }) => name)
      .filter(name => kept.has(name)),
  );
  const [a, b] = [await run(before, names, feeds), await run(after, names, feeds)];
  const differences: Record<string, number> = {};
  for (const name of names) {
    const [one, other] = [a[name]?.data as ArrayLike<number>, b[name]?.data as ArrayLike<number>];
    let count = Math.abs(one.length - other.length);
    for (let index = 0; index < one.length; index++) if (one[index] !== other[index]) count++;
    if (count > 0) differences[name] = count;
  }
  return { compared: names.size, differences };
}

(shared === undefined ? describe.skip : describe)('rules in real quantized models', () => {
  it.each([
    ['mobilenetv2/qdq_reference/model.onnx', 'mobilenetv2', 'image', 'gemm-conv', 1, 65],
    ['maskrcnn2go/maskrcnn2go_qdq_orig_scales.onnx', 'maskrcnn2go', 'data', 'gemm-conv', 2, 103],
    ['maskrcnn2go/maskrcnn2go_qdq_orig_scales.onnx', 'maskrcnn2go', 'data', 'split-slice', 4, 103],
    ['maskrcnn2go/maskrcnn2go_qdq_orig_scales.onnx', 'maskrcnn2go', 'data', 'unshare-constants', 32, 103],
  ])('%s: %s %s: %s applies %i times, and %i quantized values keep every integer', async (path, folder, input, rule, times, values) => {
    const before = await simplified(await readModel(at(`models/${path}`)));
    const { model, applied } = rewritten(before, rule);
    expect(applied).toBe(times);
    const { compared, differences } = await compare(before, model, await sampleFeeds(folder, input));
    expect(differences).toEqual({});
    expect(compared).toBe(values);
  });

  it('maskrcnn2go: ConvTranspose by a Conv keeps every integer but one tie of 608,256, where ONNX Runtime sums by itself in another order', async () => {
    const before = await simplified(await readModel(at('models/maskrcnn2go/maskrcnn2go_qdq_orig_scales.onnx')));
    const { model, applied } = rewritten(before, 'conv-transpose-depth-to-space');
    expect(applied).toBe(1);
    const feeds = await sampleFeeds('maskrcnn2go', 'data');
    // Its kernel for computed weights adds 160 products in two parts, that for constant ones in one, as Conv does: with the weight constant, every integer stays.
    expect(await compare(await withConstantWeight(before, 'ConvTranspose'), model, feeds)).toEqual({ compared: 103, differences: {} });
    const { differences } = await compare(before, model, feeds);
    expect(Object.values(differences)).toEqual([1, 1]);
  });

  it.each<[string, 'backbone' | 'box_head' | 'mask_head', PresetName, number]>([
    ['conv-transpose-depth-to-space', 'mask_head', 'u8s8', 1],
    ['conv-transpose-depth-to-space', 'mask_head', 'a8w8', 1],
    ['gemm-conv', 'box_head', 'u8s8', 3],
    ['maxpool-1x1/depthwise', 'backbone', 'u8s8', 1],
    ['maxpool-1x1/slice', 'backbone', 'a8w8', 1],
    ['unshare-constants', 'backbone', 'u8s8', 16],
  ])('%s in the quantized %s (%s) applies %i times and keeps every integer', async (rule, part, preset, times) => {
    const { model, recipe } = await exportShapes();
    const float = await simplified(extractSubgraph(model, recipe.parts[part]));
    const all = recordedFeeds(await readNpz(at('shapes/maskrcnn/stages_1000.npz')));
    const feeds = Object.fromEntries(recipe.parts[part].inputs.map(name => [name, all[name] as Tensor]));
    const before = await quantizeOn(float, feeds, PRESETS[preset]);
    const after = rewritten(before, rule);
    expect(after.applied).toBe(times);
    const { compared, differences } = await compare(before, after.model, feeds);
    expect(differences).toEqual({});
    expect(compared).toBeGreaterThan(5);
  });
});

/** A copy in which the weights of an operator are computed once, before it runs. */
async function withConstantWeight(model: Model, opType: string): Promise<Model> {
  const copy = cloneModel(model);
  const { nodes, values } = copy.graph;
  for (const node of nodes.values()) {
    const weight = node.inputs[1] === undefined ? undefined : values.get(node.inputs[1]);
    const dequantizer = weight?.producer === undefined ? undefined : nodes.get(weight.producer);
    if (node.opType !== opType || weight === undefined || dequantizer?.opType !== 'DequantizeLinear') continue;
    const part = extractSubgraph(copy, { inputs: [], outputs: [weight.name] });
    const tensor = (await evaluate(part))[weight.name];
    if (tensor === undefined || tensor.dtype === 'string') throw new Error(`no weight ${weight.name}`);
    nodes.delete(dequantizer.id);
    weight.producer = undefined;
    weight.constant = encodeRawTensor(tensor);
  }
  return copy;
}
