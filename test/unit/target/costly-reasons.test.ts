/** The costliest reasons for a share below 1. */

import { ints } from '../../../src/onnx/ir/attribute.js';
import type { Model } from '../../../src/onnx/ir/model.js';
import { evaluate } from '../../../src/runtime/session/evaluate.js';
import { compileModel } from '../../../src/target/compile-model.js';
import { chooseTarget, getBuiltInProfile } from '../../../src/target/profile/choose-target.js';
import type { ModelReport } from '../../../src/target/report/compile-report.js';
import { listCostlyReasons } from '../../../src/target/report/costly-reasons.js';
import { qdqGraph } from '../../support/qdq-graph.js';

async function compile(name: string, model: Model): Promise<ModelReport> {
  const target = chooseTarget(getBuiltInProfile('ryzen-ai'), {});
  return (await compileModel(name, model, target, { evaluate, undocumented: 'cpu', accept: 'quantized' })).report;
}

/** Two Conv that are legal, two with strides beyond the documented 4, and a ConvTranspose, which is not documented. */
function makeStrided(): Model {
  const graph = qdqGraph();
  graph.input('image', [1, 4, 60, 60]);
  for (const name of ['v', 'w']) graph.constant(name, [4, 4, 3, 3]);
  graph.constant('wide', [4, 16, 2, 2]);
  const same = { attributes: { pads: ints([1, 1, 1, 1]) } };
  const stride = (size: number) => ({ attributes: { strides: ints([size, size]) } });
  graph.unit('Conv', ['image', 'v'], ['a'], same);
  graph.unit('Conv', ['a', 'w'], ['b'], same);
  graph.unit('Conv', ['b', 'w'], ['coarse'], stride(5));
  graph.unit('Conv', ['b', 'w'], ['again'], stride(5));
  graph.unit('ConvTranspose', ['b', 'wide'], ['up'], stride(2));
  graph.output('coarse', 'again', 'up');
  return graph.build();
}

function makeLegal(): Model {
  const graph = qdqGraph();
  graph.input('image', [1, 4, 60, 60]);
  for (const name of ['v', 'w']) graph.constant(name, [4, 4, 3, 3]);
  graph.unit('Conv', ['image', 'v'], ['a']);
  graph.unit('Conv', ['a', 'w'], ['b']);
  graph.output('b');
  return graph.build();
}

describe('costly reasons', () => {
  it('group units by operator and rule, the most multiply-accumulates first, with their share of all', async () => {
    // Multiply-accumulates: 518,400 of each legal Conv, 20,736 of each Conv with stride 5, 921,600 of the ConvTranspose.
    const reasons = listCostlyReasons([await compile('net', makeStrided())]);
    expect(reasons).toEqual([
      expect.stringMatching(
        /^46\.1 % of the multiply-accumulates on the CPU: ConvTranspose "ConvTranspose_up": ConvTranspose is not documented/,
      ),
      expect.stringMatching(/^2\.1 % of the multiply-accumulates on the CPU: Conv "Conv_coarse" and 1 more: the stride is 5×5/),
    ]);
  });

  it('name the model where there are several, and take their shares of all models', async () => {
    const legal = await compile('legal', makeLegal());
    const [first] = listCostlyReasons([legal, await compile('net', makeStrided())]);
    // The legal model has 484,416 + 451,584 of 2,935,872.
    expect(first).toMatch(/^31\.4 % of the multiply-accumulates on the CPU: ConvTranspose "ConvTranspose_up" of net: /);
    expect(listCostlyReasons([legal])).toEqual([]);
  });

  it('name why legal units are on the CPU, at most three reasons in all', async () => {
    const { units, ...report } = await compile('net', makeStrided());
    const onCpu = units.map((unit, index) => ({
      ...unit,
      device: 'cpu' as const,
      findings: [],
      demoted: `reason ${index % 4}`,
      macs: index % 4,
    }));
    const reasons = listCostlyReasons([{ ...report, units: onCpu }]);
    expect(reasons.map(reason => reason.slice(-8))).toEqual(['reason 3', 'reason 2', 'reason 1']);
  });

  it('count units where a model has no multiply-accumulates', async () => {
    const { units, counts, ...report } = await compile('net', makeStrided());
    const none = units.map(unit => ({ ...unit, macs: 0 }));
    const [first] = listCostlyReasons([{ ...report, counts: { ...counts, macs: 0 }, units: none }]);
    expect(first).toMatch(/^[0-9.]+ % of the units on the CPU: Conv "Conv_coarse" and 1 more: /);
  });
});
