/** Advice for a model: rewrites are tried and kept only if they help. */

import { formatAdvice } from '../../../src/cli/render/advice-report.js';
import { int, ints } from '../../../src/onnx/ir/attribute.js';
import { getValue } from '../../../src/onnx/ir/edit.js';
import type { Model } from '../../../src/onnx/ir/model.js';
import { evaluate } from '../../../src/runtime/session/evaluate.js';
import type { Advice } from '../../../src/target/advice/advice.js';
import { adviseModel } from '../../../src/target/advice/advise.js';
import { removeQuantization } from '../../../src/target/advice/remove-quantization.js';
import { chooseTarget, getBuiltInProfile } from '../../../src/target/profile/choose-target.js';
import { makeTensor } from '../../../src/tensor/tensor.js';
import { type QdqParams, qdqGraph } from '../../support/qdq-graph.js';
import { runWhole } from '../../support/run-parts.js';
import { integers, randomConstant, smallModel } from '../../support/small-model.js';

/** Conv, x · Sigmoid(x), Conv, Split, Add; and a grouped Conv that no rule of the profile rewrites. */
const silu = (opset = 17): Model =>
  smallModel({
    opset,
    inputs: { x: ['float32', [1, 4, 8, 8]] },
    constants: { v: randomConstant([4, 4, 1, 1]), w: randomConstant([4, 4, 3, 3]) },
    nodes: [
      { op: 'Conv', in: ['x', 'v'], out: ['a'] },
      { op: 'Sigmoid', in: ['a'], out: ['s'] },
      { op: 'Mul', in: ['a', 's'], out: ['m'] },
      { op: 'Conv', in: ['m', 'w'], out: ['c'], attributes: { pads: ints([1, 1, 1, 1]) } },
      { op: 'Split', in: ['c'], out: ['p', 'q'], attributes: { axis: int(1) } },
      { op: 'Add', in: ['p', 'q'], out: ['y'] },
    ],
    outputs: ['y'],
  });

const json = getBuiltInProfile('ryzen-ai');

async function advise(model: Model, device = 'stx-krk'): Promise<{ readonly advice: Advice; readonly model: Model }> {
  return adviseModel(model, json, chooseTarget(json, { device, dtype: 'xint8' }), { evaluate, undocumented: 'cpu' });
}

const plain = (text: string): string => text;

describe('advice', () => {
  it('has the rewrites that bring units onto the NPU, with the share before and after, and leaves the model as it is', async () => {
    const model = silu();
    const { advice, model: rewritten } = await advise(model);
    expect(advice.rewrites).toMatchObject([
      { rule: 'silu-hard-swish', effect: 'approximate', places: 1, before: { cpuUnits: expect.any(Number) }, after: { npuMacShare: 1 } },
      { rule: 'split-slice', effect: 'exact', places: 1, before: { cpuUnits: expect.any(Number) }, after: { cpuUnits: 0 } },
    ]);
    expect(advice.refused).toEqual([]);
    expect([...model.graph.nodes.values()].map(node => node.opType)).toContain('Sigmoid');
    expect([...rewritten.graph.nodes.values()].map(node => node.opType)).not.toContain('Split');
  });

  it('has a row for each data type of the device', async () => {
    const dtypes = async (device: string) => (await advise(silu(), device)).advice.dtypes.map(({ dtype }) => dtype);
    expect(await dtypes('stx-krk')).toEqual(['xint8', 'a8w8', 'a16w8', 'bf16']);
    expect(await dtypes('phx-hpt')).toEqual(['xint8']);
  });

  it('reports why a suggested rewrite does not help', async () => {
    const model = smallModel({
      opset: 17,
      inputs: { x: ['float32', [1, 4, 8, 8]] },
      constants: { v: randomConstant([4, 4, 1, 1]) },
      nodes: [
        { op: 'Conv', in: ['x', 'v'], out: ['a'] },
        { op: 'Sigmoid', in: ['a'], out: ['y'] },
      ],
      outputs: ['y'],
    });
    const { advice } = await advise(model);
    expect(advice.rewrites).toEqual([]);
    expect(advice.refused.map(({ rule }) => rule)).toEqual(['silu-hard-swish', 'sigmoid-hard']);
    expect(advice.refused[1]?.reason).toBe('no more of the model runs on the NPU with it; undocumented are then HardSigmoid');
    expect(formatAdvice(advice, (_, text) => plain(text)).join('\n')).toContain(
      '  not sigmoid-hard: no more of the model runs on the NPU with it',
    );
  });

  it('tries a newer operator set where rewrites do not help in that of the model', async () => {
    // HardSwish, which is documented for xint8, exists from 14 on; before, the rule writes HardSigmoid and Mul.
    const { advice, model } = await advise(silu(11));
    expect(advice).toMatchObject({
      opset: 17,
      rewrites: [{ rule: 'silu-hard-swish', after: { npuMacShare: 1 } }, { rule: 'split-slice' }],
    });
    expect([...model.graph.nodes.values()].map(node => node.opType)).toContain('HardSwish');
    expect(formatAdvice(advice, (_, text) => text)).toContain(
      '  convert the model to operator set 17 first, as `import` does: the rewrites then have operators that the target documents',
    );
    const onPhoenix = (await advise(silu(11), 'phx-hpt')).advice;
    expect([onPhoenix.opset, onPhoenix.rewrites.at(-1)?.after.cpuUnits]).toEqual([undefined, 0]);
  });

  it('names the data type with more on the NPU, and what undocumented nodes would add on a board that runs them', async () => {
    const model = smallModel({
      opset: 17,
      inputs: { x: ['float32', [1, 4, 8, 8]] },
      constants: { v: randomConstant([4, 4, 1, 1]), w: randomConstant([4, 4, 3, 3]) },
      nodes: [
        { op: 'Conv', in: ['x', 'v'], out: ['a'] },
        { op: 'Sigmoid', in: ['a'], out: ['s'] },
        { op: 'Conv', in: ['s', 'w'], out: ['y'], attributes: { pads: ints([1, 1, 1, 1]) } },
      ],
      outputs: ['y'],
    });
    const { advice } = await advise(model);
    expect(advice).toMatchObject({ rewrites: [], trust: { before: { cpuUnits: 1, npuParts: 2 }, after: { npuMacShare: 1, cpuUnits: 0 } } });
    expect(formatAdvice(advice, (_, text) => text)).toEqual(
      expect.arrayContaining([
        '  or data type a8w8: 100.0 % instead of 100.0 % on the NPU, 0 instead of 1 units on the CPU (`preset: a8w8` of quantize, `dtype: a8w8` of compile)',
        '  or try undocumented nodes on a board: 100.0 % → 100.0 % on the NPU, 1 → 0 units on the CPU if it runs them',
      ]),
    );
    // Everything is documented for a8w8: nothing is left to trust.
    const a8w8 = await adviseModel(model, json, chooseTarget(json, { device: 'stx-krk', dtype: 'a8w8' }), {
      evaluate,
      undocumented: 'cpu',
    });
    expect(a8w8.advice.trust).toBeUndefined();
  });

  it('is printed as a stage to paste', async () => {
    const lines = formatAdvice((await advise(silu())).advice, (_, text) => plain(text));
    expect(lines).toEqual(
      expect.arrayContaining([
        '  rewrite:',
        '        - {name: silu-hard-swish, matches: any}',
        '        - {name: split-slice, matches: any}',
        expect.stringMatching(/^ {2}a8w8 +100\.0 % +1 of 1 +0 +\d+\.\d ms +split-slice$/),
      ]),
    );
  });

  it('judges each data type with the rewrites that it needs', async () => {
    const { advice } = await advise(silu());
    // Sigmoid is documented for a8w8 and a16w8, Split for a16w8.
    expect(advice.dtypes.map(({ dtype, rewrites, outcome }) => [dtype, rewrites.map(({ rule }) => rule), outcome.cpuUnits])).toEqual([
      ['xint8', ['silu-hard-swish', 'split-slice'], 0],
      ['a8w8', ['split-slice'], 0],
      ['a16w8', [], 0],
      ['bf16', [], 0],
    ]);
  });
});

describe('advice about sizes', () => {
  const twoConvs = (dims: readonly (number | string)[]) =>
    smallModel({
      opset: 17,
      inputs: { x: ['float32', dims] },
      constants: { v: randomConstant([3, 3, 1, 1]), w: randomConstant([3, 3, 3, 3]) },
      nodes: [
        { op: 'Conv', in: ['x', 'v'], out: ['a'] },
        { op: 'Conv', in: ['a', 'w'], out: ['y'], attributes: { pads: ints([1, 1, 1, 1]) } },
      ],
      outputs: ['y'],
    });

  it('fixes free sizes, and tells which of them stand for the user’s', async () => {
    const { advice } = await advise(twoConvs(['n', 3, 'h', 'w']));
    expect(advice.steps).toMatchObject([
      { kind: 'sizes', before: { npuMacShare: 0, cpuUnits: 2 }, after: { npuMacShare: 1, npuParts: 1, cpuUnits: 0 } },
    ]);
    expect(formatAdvice(advice, (_, text) => text)).toEqual(
      expect.arrayContaining([
        '  fix the sizes of the inputs: x [1, 3, 320, 320]; 320 and 3 stand for your own sizes: 0.0 % → 100.0 % on the NPU, 2 → 0 units on the CPU',
        '  import:',
        '      shapes: {x: [1, 3, 320, 320]}',
      ]),
    );
    expect(advice.dtypes.map(({ outcome }) => outcome.npuMacShare)).toEqual([1, 1, 1, 1]);
  });

  it('takes one image per call where the target does', async () => {
    const { advice } = await advise(twoConvs([4, 3, 8, 8]));
    expect(advice.steps).toMatchObject([{ kind: 'batch', before: { npuMacShare: 0 }, after: { npuMacShare: 1 } }]);
    expect(advice.steps[0]?.text).toContain('batch 1 instead of 4');
  });

  it('says why a batch in the constants of a model stays', async () => {
    const model = smallModel({
      opset: 17,
      inputs: { x: ['float32', [4, 3, 8, 8]] },
      constants: { v: randomConstant([3, 3, 1, 1]), w: randomConstant([3, 3, 1, 1]), shape: integers([4, 3, 64, 1]) },
      nodes: [
        { op: 'Conv', in: ['x', 'v'], out: ['a'] },
        { op: 'Reshape', in: ['a', 'shape'], out: ['b'] },
        { op: 'Conv', in: ['b', 'w'], out: ['y'] },
      ],
      outputs: ['y'],
    });
    const { advice } = await advise(model);
    expect(advice.steps).toEqual([]);
    expect(advice.refusedSteps).toMatchObject([{ kind: 'batch', reason: expect.stringContaining('Reshape') }]);
  });

  it('ends a model before sizes that depend on data', async () => {
    const model = smallModel({
      opset: 17,
      inputs: { x: ['float32', [1, 3, 8, 8]] },
      constants: { v: randomConstant([3, 3, 1, 1]), w: randomConstant([3, 3, 1, 1]) },
      nodes: [
        { op: 'Conv', in: ['x', 'v'], out: ['a'] },
        { op: 'Conv', in: ['a', 'w'], out: ['b'] },
        { op: 'NonZero', in: ['b'], out: ['found'] },
      ],
      outputs: ['found'],
    });
    const { advice, model: cut } = await advise(model);
    expect(advice.steps).toMatchObject([{ kind: 'cut', param: 'cut: {outputs: [b]}', before: { cpuUnits: 1 }, after: { cpuUnits: 0 } }]);
    expect(advice.refusedSteps).toEqual([{ kind: 'sizes', reason: 'all sizes of the inputs are fixed' }]);
    expect(cut.graph.outputs.map(id => getValue(cut.graph, id).name)).toEqual(['b']);
  });

  it('ends a whole detector after its last layer, not at what chooses among its results', async () => {
    const model = smallModel({
      opset: 17,
      inputs: { x: ['float32', [1, 3, 8, 8]] },
      constants: { v: randomConstant([3, 3, 1, 1]), w: randomConstant([3, 3, 1, 1]), zero: randomConstant([]) },
      nodes: [
        { op: 'Conv', in: ['x', 'v'], out: ['a'] },
        { op: 'Conv', in: ['a', 'w'], out: ['b'] },
        { op: 'Greater', in: ['b', 'zero'], out: ['above'] },
        { op: 'NonZero', in: ['above'], out: ['found'] },
      ],
      outputs: ['found'],
    });
    const { advice } = await advise(model);
    expect(advice.steps).toMatchObject([{ kind: 'cut', param: 'cut: {outputs: [b]}' }]);
  });
});

describe('advice for a quantized model', () => {
  const quantized = (params: QdqParams) => {
    const graph = qdqGraph();
    graph.input('x', [1, 4, 8, 8], params);
    graph.constant('v', [4, 4, 1, 1]);
    graph.constant('w', [4, 4, 1, 1]);
    graph.unit('Conv', ['x', 'v'], ['a'], { params });
    graph.unit('Relu', ['a'], ['b'], { params });
    graph.unit('Conv', ['b', 'w'], ['y'], { params });
    graph.output('y');
    return graph.build();
  };

  it('of the wrong types and scales is to quantize it again, with the share that this gives', async () => {
    const { advice } = await advise(quantized({ scale: 0.07, zeroPoint: 3 }));
    expect(advice.steps).toMatchObject([
      { kind: 'quantize', before: { npuMacShare: 0 }, after: { npuMacShare: 1, npuParts: 1, cpuUnits: 0 } },
    ]);
    expect(advice.steps[0]?.text).toBe('quantize the float model again with `preset: xint8`, every operator of it');
  });

  it('names the rewrites of the float model', async () => {
    const graph = qdqGraph();
    graph.input('x', [1, 4, 8, 8]);
    graph.constant('v', [4, 4, 1, 1]);
    graph.constant('w', [4, 4, 1, 1]);
    graph.unit('Conv', ['x', 'v'], ['a']);
    graph.unit('Sigmoid', ['a'], ['s']);
    graph.unit('Mul', ['a', 's'], ['m']);
    graph.unit('Conv', ['m', 'w'], ['y']);
    graph.output('y');
    const { advice } = await advise(graph.build());
    expect(advice).toMatchObject({
      steps: [{ kind: 'quantize', before: { cpuUnits: 1 }, after: { cpuUnits: 0 } }],
      rewrites: [{ rule: 'silu-hard-swish' }],
    });
    expect(advice.steps[0]?.text).toBe('rewrite the float model, and quantize it again with `preset: xint8`');
  });

  it('that is legal has a row for each data type', async () => {
    const model = quantized({});
    const { advice } = await advise(model);
    expect(advice).toMatchObject({ steps: [], refusedSteps: [], rewrites: [], refused: [] });
    expect(formatAdvice(advice, (_, text) => text)).toEqual([
      '',
      expect.stringMatching(/^ {2}by data type +on the NPU/),
      expect.stringMatching(/^ {2}xint8 +100\.0 % +1 of 1 +0 /),
      expect.stringMatching(/^ {2}a8w8 +100\.0 % +1 of 1 +0 /),
      expect.stringMatching(/^ {2}a16w8 +100\.0 % +1 of 1 +0 /),
      expect.stringMatching(/^ {2}bf16 +100\.0 % +1 of 1 +0 /),
    ]);
  });

  it('keeps the numbers of its weights in the float form', async () => {
    const graph = qdqGraph();
    graph.input('x', [1, 4, 4, 4], { scale: 2 ** -6 });
    graph.constant('w', [4, 4, 1, 1]);
    graph.unit('Conv', ['x', 'w'], ['y'], { params: { scale: 2 ** -4 } });
    graph.output('y');
    const whole = graph.build();
    const float = await removeQuantization(whole, evaluate);
    expect([...float.graph.nodes.values()].map(node => node.opType)).toEqual(['Conv']);
    const [name = ''] = whole.graph.inputs.map(id => getValue(whole.graph, id).name);
    // Multiples of the input's scale: only the Q of the output rounds, by at most half its scale of 1/16.
    const input = makeTensor(
      'float32',
      [1, 4, 4, 4],
      Float32Array.from({ length: 64 }, (_, index) => ((index * 37) % 17) / 64),
    );
    const [quantizedValues] = Object.values(await runWhole(whole, { [name]: input }, 'basic'));
    const [floatValues] = Object.values(await runWhole(float, { [name]: input }, 'basic'));
    const [a, b] = [Array.from(quantizedValues?.data ?? [], Number), Array.from(floatValues?.data ?? [], Number)];
    expect(a.some(value => value !== 0)).toBe(true);
    expect(Math.max(...a.map((value, index) => Math.abs(value - (b[index] ?? 99))))).toBeLessThanOrEqual(1 / 32);
  });
});
