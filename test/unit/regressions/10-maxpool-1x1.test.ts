/** What stands for a MaxPool 1×1 has to be told by what it costs: the exact forms keep every byte, also when quantized; the 3×3 form changes most elements, and says so. */
import { ints } from '../../../src/onnx/ir/attribute.js';
import { cloneModel } from '../../../src/onnx/ir/clone.js';
import type { Model } from '../../../src/onnx/ir/model.js';
import { type RewriteRecord, rewriteModel } from '../../../src/onnx/rewrite/rewrite-model.js';
import type { FormOf } from '../../../src/onnx/rules/rule-table.js';
import { getRule } from '../../../src/onnx/rules/target/get-rule.js';
import { encodeModel } from '../../../src/onnx/serde/encode-model.js';
import { PRESETS, type PresetName } from '../../../src/quant/scheme/scheme.js';
import { compareModels, type OutputComparison } from '../../../src/runtime/compare/compare-models.js';
import { makeRandomFeeds } from '../../../src/runtime/feeds/random-feeds.js';
import type { SessionOptions } from '../../../src/runtime/session/session.js';
import type { Tensor } from '../../../src/tensor/tensor.js';
import { listProblems } from '../../support/look-at-model.js';
import { quantizeOn } from '../../support/quantize-small.js';
import { randomConstant, smallModel } from '../../support/small-model.js';

/** The top of a feature pyramid at 544×960: 256 channels of 17×30, subsampled to 9×15. The Conv before gives the pool a quantized input. */
function pyramidTop(channels = 256): Model {
  return smallModel({
    inputs: { x: ['float32', [1, channels, 17, 30]] },
    constants: { w: randomConstant([channels, 1, 1, 1], 5) },
    nodes: [
      { op: 'Conv', in: ['x', 'w'], out: ['p5'], attributes: { group: { kind: 'int', value: BigInt(channels) } } },
      { op: 'MaxPool', in: ['p5'], out: ['p6'], attributes: { kernel_shape: ints([1, 1]), strides: ints([2, 2]) } },
    ],
    outputs: ['p6'],
  });
}

function rewritten(form: FormOf<'maxpool-1x1'>, channels = 256): { model: Model; record: RewriteRecord } {
  const model = pyramidTop(channels);
  const record = rewriteModel(model, { rules: [{ rule: getRule('maxpool-1x1', form) }], edits: [], check: listProblems });
  return { model, record };
}

/** Uniform numbers in the form of a normal distribution. */
function feedsOf(model: Model): Readonly<Record<string, Tensor>> {
  let state = 11;
  const random = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  return makeRandomFeeds(model, { random, sizes: {}, freeSize: 1 });
}

async function compare(a: Model, b: Model, optimization: SessionOptions['optimization']): Promise<OutputComparison | undefined> {
  const { outputs } = await compareModels(encodeModel(a), encodeModel(b), [feedsOf(a)], { optimization });
  return outputs.p6;
}

describe.each(['slice', 'depthwise'] as const)('the exact form %s', form => {
  it('is declared exact, and keeps every bit in float', async () => {
    const { model, record } = rewritten(form);
    expect(record.rules[0]?.proof).toBe('exact');
    expect(await compare(pyramidTop(), model, 'disabled')).toMatchObject({ elements: 34_560, differentBits: 0 });
  });

  it.each<[PresetName, SessionOptions['optimization']]>([
    ['u8s8', 'disabled'],
    ['u8s8', 'all'],
    ['a8w8', 'disabled'],
    ['a8w8', 'all'],
    ['xint8', 'disabled'],
    ['xint8', 'all'],
  ])('keeps every bit quantized as %s, optimization %s', async (preset, optimization) => {
    const feeds = feedsOf(pyramidTop(32));
    const [before, after] = [
      await quantizeOn(pyramidTop(32), feeds, PRESETS[preset]),
      await quantizeOn(rewritten(form, 32).model, feeds, PRESETS[preset]),
    ];
    expect([...before.graph.nodes.values()].filter(node => node.opType === 'QuantizeLinear').length).toBeGreaterThan(1);
    expect(await compare(before, after, optimization)).toMatchObject({ elements: 4_320, differentBits: 0 });
  });
});

describe('the form 3x3', () => {
  it('is declared approximate: most elements become a larger neighbor', async () => {
    const { model, record } = rewritten('3x3');
    expect(record.rules[0]).toMatchObject({ proof: 'approximate', proofText: expect.stringContaining('maximum of nine') });
    const cost = await compare(pyramidTop(), cloneModel(model), 'disabled');
    // Of nine independent values the middle one is the largest once in nine; at the edges there are fewer: 87 % differ on such data.
    expect((cost?.differentBits ?? 0) / 34_560).toBeGreaterThan(0.85);
    expect((cost?.differentBits ?? 0) / 34_560).toBeLessThan(8 / 9);
    expect(cost?.shapes).toBe('equal');
  });
});
