/** Advice for a model: rewrites are tried and kept only if they help. */

import { formatAdvice } from '../../../src/cli/render/advice-report.js';
import { int, ints } from '../../../src/onnx/ir/attribute.js';
import type { Model } from '../../../src/onnx/ir/model.js';
import { evaluate } from '../../../src/runtime/session/evaluate.js';
import { type Advice, adviseModel } from '../../../src/target/advice/advise.js';
import { chooseTarget, getBuiltInProfile } from '../../../src/target/profile/choose-target.js';
import { randomConstant, smallModel } from '../../support/small-model.js';

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
      { rule: 'silu-hard-swish', effect: 'approximate', places: 1, before: { npuMacShare: 0 }, after: { npuMacShare: 1 } },
      { rule: 'split-slice', effect: 'exact', places: 1, before: { cpuUnits: expect.any(Number) }, after: { cpuUnits: 0 } },
    ]);
    expect(advice.refused).toEqual([]);
    expect([...model.graph.nodes.values()].map(node => node.opType)).toContain('Sigmoid');
    expect([...rewritten.graph.nodes.values()].map(node => node.opType)).not.toContain('Split');
  });

  it('has a row for each data type of the device', async () => {
    const dtypes = async (device: string) => (await advise(silu(), device)).advice.dtypes.map(({ dtype }) => dtype);
    expect(await dtypes('stx-krk')).toEqual(['xint8', 'a8w8', 'a16w8']);
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
    expect(advice).toMatchObject({ rewrites: [], trust: { before: { npuMacShare: 0 }, after: { npuMacShare: 1, cpuUnits: 0 } } });
    expect(formatAdvice(advice, (_, text) => text)).toEqual(
      expect.arrayContaining([
        '  or data type a8w8: 100.0 % instead of 0.0 % on the NPU, 0 instead of 3 units on the CPU (`preset: a8w8` of quantize, `dtype: a8w8` of compile)',
        '  or try undocumented nodes on a board: 0.0 % → 100.0 % on the NPU, 3 → 0 units on the CPU if it runs them',
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
        expect.stringMatching(/^ {2}a8w8 +100\.0 % +1 of 1 +0 +\d+\.\d ms$/),
      ]),
    );
  });
});
