/** Tests of the factors of DPUs against the constants of vai_q_onnx and AMD Quark, and of the rule in a quantized graph. */
import { rewriteModel } from '../../../../src/onnx/rewrite/rewrite-model.js';
import { poolFactor } from '../../../../src/onnx/rules/target/activations/dpu-factors.js';
import { getRule } from '../../../../src/onnx/rules/target/get-rule.js';
import { listProblems, operators, runModel } from '../../../support/look-at-model.js';
import { floats, type SmallModel, smallModel } from '../../../support/small-model.js';

describe('factors of average pools on a DPU', () => {
  // The constants of vai_q_onnx; 1.0048828 of 7×7 is in the log of a public issue, 1 of 16×16 in that of a user of Quark.
  it.each([
    [3, 3, (9 * 7) / 64],
    [5, 5, (25 * 10) / 256],
    [6, 6, (36 * 7) / 256],
    [7, 7, 1.0048828125],
    [14, 14, (196 * 21) / 4096],
    [1, 1, 1],
    [16, 16, 1],
    [2, 3, (6 * 85) / 512],
    [256, 4, 1],
  ])('are those of AMD for %d×%d', (height, width, factor) => {
    expect(poolFactor(height, width)).toBe(factor);
  });

  it('are within 2^-7 of 1 for windows without a divisor of their own: of the quotients, the last has an error of at most 2^-7 / n', () => {
    for (let height = 1; height <= 40; height++)
      for (let width = 1; width <= 255; width += 7) expect(Math.abs(poolFactor(height, width) - 1)).toBeLessThanOrEqual(2 ** -7);
  });

  it('stand between a pool and its quantizer in a quantized graph', async () => {
    const given: SmallModel = {
      inputs: { x: ['float32', [1, 2, 7, 7]] },
      constants: { s: floats([], [0.125]), z: { dtype: 'int8', dims: [], bytes: Uint8Array.of(0) } },
      nodes: [
        { op: 'QuantizeLinear', in: ['x', 's', 'z'], out: ['q'] },
        { op: 'DequantizeLinear', in: ['q', 's', 'z'], out: ['d'] },
        { op: 'GlobalAveragePool', in: ['d'], out: ['p'] },
        { op: 'QuantizeLinear', in: ['p', 's', 'z'], out: ['y'] },
      ],
      outputs: ['y'],
    };
    const model = smallModel(given);
    rewriteModel(model, { rules: [{ rule: getRule('dpu-factors', 'average-pool') }], edits: [], check: listProblems });
    expect(operators(model)).toEqual(['QuantizeLinear', 'DequantizeLinear', 'GlobalAveragePool', 'Mul', 'QuantizeLinear']);
    // 100 steps become 100.49, and 120 become 120.59.
    const x = (value: number) => ({ x: { dtype: 'float32' as const, dims: [1, 2, 7, 7], data: new Float32Array(98).fill(value) } });
    expect([...((await runModel(model, x(12.5))).y?.data ?? [])]).toEqual([100, 100]);
    expect([...((await runModel(model, x(15))).y?.data ?? [])]).toEqual([121, 121]);
  });
});
