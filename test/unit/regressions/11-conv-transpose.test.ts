/** A ConvTranspose that an NPU lacks has an exact form: byte-equal in float, and after quantization with one scale per tensor. */
import { rankOf } from '../../../src/base/figure.js';
import { ints } from '../../../src/onnx/ir/attribute.js';
import type { Model } from '../../../src/onnx/ir/model.js';
import { rewriteModel } from '../../../src/onnx/rewrite/rewrite-model.js';
import { getRule } from '../../../src/onnx/rules/target/get-rule.js';
import { encodeModel } from '../../../src/onnx/serde/encode-model.js';
import { PRESETS, type Preset, type PresetName } from '../../../src/quant/scheme/scheme.js';
import { compareModels, type OutputComparison } from '../../../src/runtime/compare/compare-models.js';
import type { SessionOptions } from '../../../src/runtime/session/session.js';
import type { Tensor } from '../../../src/tensor/tensor.js';
import { listProblems, operators } from '../../support/look-at-model.js';
import { quantizeOn } from '../../support/quantize-small.js';
import { randomConstant, randomFloats, smallModel } from '../../support/small-model.js';

/** The upsampling of Mask R-CNN's mask head, 256 channels of 14×14 to 28×28, for two RoIs; with the Relu and the Conv after it, or alone. */
function maskHead(what: 'alone' | 'whole', size = { channels: 256, rois: 2 }): Model {
  const { channels, rois } = size;
  const tail = [
    { op: 'Relu', in: ['up'], out: ['active'] },
    { op: 'Conv', in: ['active', 'w2', 'b2'], out: ['logits'] },
  ];
  return smallModel({
    inputs: { x: ['float32', [rois, channels, 14, 14]] },
    constants: {
      w: randomConstant([channels, channels, 2, 2], 3),
      b: randomConstant([channels], 4),
      w2: randomConstant([12, channels, 1, 1], 5),
      b2: randomConstant([12], 6),
    },
    nodes: [
      { op: 'ConvTranspose', in: ['x', 'w', 'b'], out: ['up'], attributes: { strides: ints([2, 2]) } },
      ...(what === 'alone' ? [] : tail),
    ],
    outputs: [what === 'alone' ? 'up' : 'logits'],
  });
}

function rewritten(model: Model): Model {
  const rule = getRule('conv-transpose-depth-to-space', undefined);
  const { rules } = rewriteModel(model, { rules: [{ rule }], edits: [], check: listProblems });
  expect(rules[0]).toMatchObject({ proof: 'exact', applied: [{ node: 'ConvTranspose "up"' }] });
  return model;
}

async function compare(
  before: Model,
  after: Model,
  feeds: Readonly<Record<string, Tensor>>,
  optimization: SessionOptions['optimization'],
): Promise<OutputComparison | undefined> {
  const { outputs } = await compareModels(encodeModel(before), encodeModel(after), [feeds], { optimization });
  return Object.values(outputs)[0];
}

describe('ConvTranspose as Conv and DepthToSpace', () => {
  it.each(['disabled', 'all'] as const)('keeps every byte of 401,408 in float, optimization %s', async optimization => {
    const feeds = { x: randomFloats([2, 256, 14, 14]) };
    const after = rewritten(maskHead('alone'));
    expect(operators(after)).toEqual(['Conv', 'DepthToSpace']);
    expect(await compare(maskHead('alone'), after, feeds, optimization)).toMatchObject({ elements: 401_408, differentBits: 0 });
  });

  const small = { channels: 32, rois: 3 };
  const feeds = { x: randomFloats([3, 32, 14, 14], 9) };
  const quantizedPair = async (scheme: Preset): Promise<readonly [Model, Model]> => [
    await quantizeOn(maskHead('whole', small), feeds, scheme),
    await quantizeOn(rewritten(maskHead('whole', small)), feeds, scheme),
  ];

  it.each<PresetName>(['u8s8', 's8s8', 'u8u8', 'a8w8', 'xint8'])('keeps every bit quantized per tensor as %s', async preset => {
    const [before, after] = await quantizedPair(PRESETS[preset]);
    expect(operators(after)).toEqual(expect.arrayContaining(['DepthToSpace', 'QuantizeLinear']));
    expect(await compare(before, after, feeds, 'disabled')).toMatchObject({ elements: 28_224, differentBits: 0 });
  });

  it('keeps every bit on the integer kernels too if scales are powers of two', async () => {
    const [before, after] = await quantizedPair(PRESETS.xint8);
    expect(await compare(before, after, feeds, 'all')).toMatchObject({ elements: 28_224, differentBits: 0 });
  });

  it('gives every channel of the Conv its own scale if scales are per channel: different integers, no larger error', async () => {
    const perChannel: Preset = { ...PRESETS.u8s8, weight: { ...PRESETS.u8s8.weight, perChannel: true } };
    const [before, after] = await quantizedPair(perChannel);
    const [old, now] = [before, after].map(model =>
      [...model.graph.values.values()]
        .filter(value => value.constant?.dtype === 'float32' && value.constant.dims.length === 1)
        .map(value => value.constant?.dims[0] ?? 0),
    );
    // Weight and bias of the ConvTranspose have a scale per output channel, 32; those of the Conv four times as many.
    expect(old).toContain(32);
    expect(now).toContain(128);
    const float = maskHead('whole', small);
    const [worse, better] = [await compare(float, before, feeds, 'disabled'), await compare(float, after, feeds, 'disabled')];
    expect(rankOf(better?.sqnrDb ?? 0)).toBeGreaterThan(rankOf(worse?.sqnrDb ?? 0) - 0.1);
  });
});
