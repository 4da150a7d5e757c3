/** Exact rewrites stay exact after quantization: outputs of the quantized models are compared bit for bit. */
import { int, ints } from '../../../../src/onnx/ir/attribute.js';
import { getValue } from '../../../../src/onnx/ir/edit.js';
import type { Model, ValueId } from '../../../../src/onnx/ir/model.js';
import { rewriteModel } from '../../../../src/onnx/rewrite/rewrite-model.js';
import { getRule } from '../../../../src/onnx/rules/target/get-rule.js';
import { encodeModel } from '../../../../src/onnx/serde/encode-model.js';
import { openSketcher } from '../../../../src/quant/calibration/sketch-model.js';
import { addressValues } from '../../../../src/quant/calibration/value-address.js';
import { planQuantization } from '../../../../src/quant/placement/plan-quantization.js';
import { insertQdq } from '../../../../src/quant/qdq/insert-qdq.js';
import type { Observation } from '../../../../src/quant/range/range-method.js';
import { PRESETS, type PresetName } from '../../../../src/quant/scheme/scheme.js';
import { openSession, type SessionOptions } from '../../../../src/runtime/session/session.js';
import { makeTensor, type Tensor } from '../../../../src/tensor/tensor.js';
import { smallGraph } from '../small-graph.js';

const CHANNELS = 4;
const noise = (length: number, seed: number) => Float32Array.from({ length }, (_, i) => Math.sin(i * 12.9898 + seed) * 2.5);
const feeds = (): Record<string, Tensor> => ({ x: makeTensor('float32', [1, CHANNELS, 9, 8], noise(CHANNELS * 72, 1)) });

/** Conv → MaxPool 1×1 stride 2 → Conv, as at the top of a feature pyramid. The first Conv's output is also a graph output. */
function pyramidTop(): Model {
  const small = smallGraph();
  small.input('x', [1, CHANNELS, 9, 8]);
  small.floats('w', [CHANNELS, CHANNELS, 1, 1], [...noise(CHANNELS * CHANNELS, 2)]);
  small.floats('b', [CHANNELS], [...noise(CHANNELS, 3)]);
  small.node('Conv x w b -> feature');
  small.node('MaxPool feature -> pool', { kernel_shape: ints([1, 1]), strides: ints([2, 2]) });
  small.node('Conv pool w b -> objectness', { group: int(1) });
  small.output('feature', 'pool', 'objectness');
  return small.model;
}

async function quantized(preset: PresetName, form: 'original' | 'slice' | 'depthwise'): Promise<Uint8Array> {
  const model = pyramidTop();
  if (form !== 'original') rewriteModel(model, { rules: [{ rule: getRule('maxpool-1x1', form) }], edits: [], check: () => [] });
  const sketcher = openSketcher(model, { budgetBytes: 1e9, freeDim: 1 });
  const sketches = await sketcher.sample(feeds());
  await sketcher.close();
  const observations = new Map<ValueId, Observation>();
  for (const [id, address] of addressValues(model)) {
    const { min = 0, max = 0 } = sketches.get(address) ?? {};
    observations.set(id, { kind: 'known', range: { low: min, high: max } });
  }
  insertQdq(model, planQuantization(model.graph, { scheme: PRESETS[preset], observations, excluded: new Set() }), 'ai.onnx');
  return encodeModel(model);
}

async function run(bytes: Uint8Array, optimization: SessionOptions['optimization']): Promise<Readonly<Record<string, Tensor>>> {
  const session = await openSession(bytes, { optimization });
  const results = await session.run(feeds());
  await session.close();
  return results;
}

describe.each(['u8s8', 'a8w8'] as const)('preset %s', preset => {
  it.each(['slice', 'depthwise'] as const)('the %s form of MaxPool 1×1 gives the same bits as the original', async form => {
    const [original, rewritten] = [await quantized(preset, 'original'), await quantized(preset, form)];
    for (const optimization of ['disabled', 'all'] as const) {
      expect(await run(rewritten, optimization)).toEqual(await run(original, optimization));
    }
  });

  it('the quantized model is close to the float model', async () => {
    const exact = await run(encodeModel(pyramidTop()), 'disabled');
    // What the model says: integer kernels saturate on processors without VNNI.
    const int8 = await run(await quantized(preset, 'original'), 'basic');
    for (const [name, { data }] of Object.entries(exact)) {
      const other = int8[name]?.data as Float32Array;
      const [signal, error] = [...(data as Float32Array)].reduce(
        ([s, e], x, i) => [s + x * x, e + (x - (other[i] ?? 0)) ** 2] as [number, number],
        [0, 0] as [number, number],
      );
      // 8 bits over a few standard deviations give about 40 dB; two convolutions in sequence lose some of it.
      expect(10 * Math.log10(signal / error)).toBeGreaterThan(30);
    }
  });

  it('inputs and outputs keep names and order', async () => {
    const { graph } = pyramidTop();
    const session = await openSession(await quantized(preset, 'depthwise'), { optimization: 'all' });
    expect(session.inputNames).toEqual(['x']);
    expect(session.outputNames).toEqual(graph.outputs.map(id => getValue(graph, id).name));
    await session.close();
  });
});
