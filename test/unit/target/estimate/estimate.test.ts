/** Latency estimates of units, and the batch table. */
import fc from 'fast-check';
import { int, ints } from '../../../../src/onnx/ir/attribute.js';
import { evaluate } from '../../../../src/runtime/session/evaluate.js';
import { compileModel } from '../../../../src/target/compile-model.js';
import { estimateBatches } from '../../../../src/target/estimate/batch-estimate.js';
import { estimateUnit } from '../../../../src/target/estimate/estimate.js';
import { estimateCall } from '../../../../src/target/estimate/image-estimate.js';
import { findRelease } from '../../../../src/target/estimate/time-constants.js';
import type { PlacedWork } from '../../../../src/target/estimate/unit-time.js';
import { chooseTarget, getBuiltInProfile } from '../../../../src/target/profile/choose-target.js';
import type { UnitWork } from '../../../../src/target/units/unit-work.js';
import { makeNeck } from '../../../support/neck.js';
import { qdqGraph } from '../../../support/qdq-graph.js';
import { randomConstant, smallModel } from '../../../support/small-model.js';

/** 1 TMAC/s at half efficiency, 10 GB/s, 0.2 ms per call. */
const target = chooseTarget(getBuiltInProfile('generic-int8'), {});

const work = (part: Partial<UnitWork>): UnitWork => ({
  macs: 0,
  elements: 0,
  engine: 'conv',
  weightBytes: 0,
  inputBytes: 0,
  outputBytes: 0,
  ...part,
});

const onNpu = (part: Partial<UnitWork>): PlacedWork => ({ work: work(part), where: 'npu' });

describe('the estimate of a unit', () => {
  it('is bound by compute if multiply-accumulates take longer than transfers', () => {
    // 5e8 MAC / (0.5 · 1e12/s) = 1 ms; 1e6 B / 1e10 B/s = 0.1 ms. Bounds: 0.7 of 2e12, 0.3 of 0.5e12.
    const { ms, lowMs, highMs, bound } = estimateUnit(target, work({ macs: 5e8, inputBytes: 6e5, outputBytes: 4e5 }));
    expect(bound).toBe('compute');
    expect(ms).toBeCloseTo(1, 9);
    expect(lowMs).toBeCloseTo((5e8 / 1.4e12) * 1000, 9);
    expect(highMs).toBeCloseTo((5e8 / 0.15e12) * 1000, 9);
  });

  it('is bound by memory if transfers take longer', () => {
    expect(estimateUnit(target, work({ macs: 1e6, weightBytes: 2e7 }))).toMatchObject({ ms: 2, bound: 'memory' });
  });

  it('scales work and activations with the batch, but not weights', () => {
    const one = work({ weightBytes: 1e7, inputBytes: 1e6 });
    expect(estimateUnit(target, one, 4).ms).toBeCloseTo(1 + 0.4, 9);
  });
});

describe('the constants of a device', () => {
  const ryzen = (version: string) => chooseTarget(getBuiltInProfile('ryzen-ai'), { device: 'stx-krk', dtype: 'xint8', version });

  it('are those of the release: its factor, that of the last release before it, or that of the first after it', () => {
    const factor = (version: string): number | undefined => findRelease(ryzen(version))?.factor.value;
    expect([factor('1.5'), factor('1.5.1'), factor('1.8')]).toEqual([factor('1.5'), factor('1.5'), factor('1.7')]);
    expect(factor('1.3')).toBe(factor('1.4'));
    const part = work({ macs: 1e9 });
    expect(estimateUnit(ryzen('1.5'), part).ms / estimateUnit(ryzen('1.7'), part).ms).toBeCloseTo(factor('1.5') ?? 0, 9);
  });

  it('round the sizes of a Conv up to what the array computes at once', () => {
    const shapes = [
      [64, 64, 56, 1],
      [3, 64, 112, 8 / 3],
      [64, 24, 7, (32 / 24) * (8 / 7)],
    ] as const;
    for (const [inputChannels, outputChannels, width, factor] of shapes) {
      const whole = estimateUnit(ryzen('1.7'), work({ macs: 1e9 })).computeMs ?? 0;
      const padded = estimateUnit(ryzen('1.7'), work({ macs: 1e9, shape: { inputChannels, outputChannels, width } })).computeMs ?? 0;
      expect(padded / whole).toBeCloseTo(factor, 9);
    }
  });

  it('give bounds by the spread of estimates where the profile has one', () => {
    const { ms, lowMs, highMs } = estimateCall(ryzen('1.7'), [onNpu({ macs: 1e9 })]);
    const factor = ryzen('1.7').device.estimate.spread?.factor ?? 0;
    expect([ms / lowMs, highMs / ms]).toEqual([expect.closeTo(factor, 9), expect.closeTo(factor, 9)]);
  });

  it('count equal units once for each', () => {
    const unit = onNpu({ macs: 1e9 });
    expect(estimateCall(ryzen('1.7'), [{ ...unit, count: 3 }]).ms).toBeCloseTo(estimateCall(ryzen('1.7'), [unit, unit, unit]).ms, 9);
  });
});

it('a float model is estimated with the bytes that it has once it is quantized', async () => {
  const model = smallModel({
    inputs: { x: ['float32', [1, 4, 8, 8]] },
    constants: { w: randomConstant([4, 4, 3, 3]) },
    nodes: [{ op: 'Conv', in: ['x', 'w'], out: ['y'], attributes: { pads: ints([1, 1, 1, 1]) } }],
    outputs: ['y'],
  });
  const bytesOf = async (dtype: string) => {
    const chosen = chooseTarget(getBuiltInProfile('ryzen-ai'), { device: 'stx-krk', dtype });
    const { report } = await compileModel('m', model, chosen, { evaluate, undocumented: 'npu', accept: 'any' });
    const [unit] = report.units;
    return [unit?.weightBytes, unit?.inputBytes, unit?.outputBytes];
  };
  expect(await bytesOf('xint8')).toEqual([144, 256, 256]);
  expect(await bytesOf('a16w8')).toEqual([144, 512, 512]);
  expect(await bytesOf('bf16')).toEqual([576, 1024, 1024]);
});

describe('the batch table', () => {
  it('counts calls and padded rows on the RoIs of each image, and names the best', () => {
    // Per RoI 0.1 ms of compute, per call 0.2 ms.
    const rois = { from: 'params', counts: [5, 8], mean: 6.5 } as const;
    const { rows, best } = estimateBatches(target, { units: [onNpu({ macs: 5e7 })], batch: 1, rois, sizes: [1, 4, 8] });
    expect(
      rows.map(({ batch, calls, padded, perCall, perImage }) =>
        [batch, calls, padded, perCall.ms, perImage.ms].map(value => Number(value.toFixed(6))),
      ),
    ).toEqual([
      [1, 6.5, 0, 0.3, 1.95],
      [4, 2, 1.5, 0.6, 1.2],
      [8, 1, 1.5, 1, 1],
    ]);
    expect(best).toBe(8);
  });

  it('scales from the compiled batch', () => {
    const rois = { from: 'params', counts: [4], mean: 4 } as const;
    const { rows } = estimateBatches(target, { units: [onNpu({ macs: 2e8 })], batch: 4, rois, sizes: [4] });
    // 0.4 ms for the four together, one call of 0.2 ms.
    expect(rows[0]?.perImage.ms).toBeCloseTo(0.6, 9);
  });
});

describe('the estimate of a call', () => {
  it('counts the fixed time once, and for a unit on the CPU a hand-over, its arithmetic and its transfers', () => {
    const { host, device } = target;
    const unit = { macs: 2e8, inputBytes: 1e6, outputBytes: 1e6 };
    const own = 1000 * (2e8 / host.macs.value + 2e6 / host.bandwidth.value);
    const call = estimateCall(target, [onNpu({ macs: 5e7 }), { work: work(unit), where: 'cpu' }]);
    expect(call.ms).toBeCloseTo(0.2 + 0.1 + device.estimate.handoverMs.value + own, 9);
  });

  it('never counts a unit on the CPU as faster than on the NPU', () => {
    const slow = { macs: 1, weightBytes: 1e9 };
    const [npu, cpu] = (['npu', 'cpu'] as const).map(where => estimateCall(target, [{ work: work(slow), where }]).ms);
    expect(cpu ?? 0).toBeGreaterThanOrEqual(npu ?? Infinity);
  });

  it('never falls if units leave the NPU', () => {
    const unit = fc.record({
      macs: fc.integer({ min: 0, max: 1e9 }),
      elements: fc.integer({ min: 0, max: 1e7 }),
      engine: fc.constantFrom('conv', 'depthwise', 'other'),
      weightBytes: fc.integer({ min: 0, max: 1e7 }),
      inputBytes: fc.integer({ min: 0, max: 1e7 }),
      outputBytes: fc.integer({ min: 0, max: 1e7 }),
    });
    const placed = fc.record({ work: unit, first: fc.boolean(), second: fc.boolean() });
    fc.assert(
      fc.property(fc.array(placed, { minLength: 1, maxLength: 50 }), fc.constantFrom('generic-int8', 'ryzen-ai'), (units, name) => {
        const chosen = chooseTarget(getBuiltInProfile(name), {});
        const estimate = (isOnCpu: (one: (typeof units)[number]) => boolean) =>
          estimateCall(
            chosen,
            units.map(one => ({ work: one.work, where: isOnCpu(one) ? 'cpu' : 'npu' })),
          );
        const before = estimate(({ first }) => first);
        const after = estimate(({ first, second }) => first || second);
        for (const key of ['ms', 'lowMs', 'highMs'] as const) expect(after[key]).toBeGreaterThanOrEqual(before[key] * (1 - 1e-12));
      }),
    );
  });

  it('of a model never falls if a profile refuses one more operator', async () => {
    const ops = ['Relu', 'MaxPool', 'Add', 'Concat', 'Conv', 'Resize', 'ConvTranspose'];
    const json = getBuiltInProfile('generic-int8') as unknown as { limits: object[] };
    const model = makeNeck();
    let least = 0;
    for (const count of [0, ...ops.keys()]) {
      const refused = { rule: 'rank', ops: ops.slice(0, count), allowed: '1', source: 'assumed' };
      const profile = { ...json, limits: [...json.limits, ...(count === 0 ? [] : [refused])] };
      const { report } = await compileModel('m', model, chooseTarget(profile as never, {}), {
        evaluate,
        undocumented: 'npu',
        accept: 'any',
      });
      expect(report.estimate.image.perImage.ms).toBeGreaterThanOrEqual(least);
      least = report.estimate.image.perImage.ms;
    }
  });
});

describe('multiply-accumulates and bytes', () => {
  it('of Conv, depthwise Conv, ConvTranspose, Gemm and MatMul equal their definitions', async () => {
    const graph = qdqGraph();
    graph.input('x', [1, 8, 10, 12]);
    graph.constant('conv', [16, 8, 3, 3]);
    graph.constant('bias', [16], { dtype: 'int32' });
    graph.constant('depth', [16, 1, 3, 3]);
    graph.constant('up', [16, 4, 2, 2]);
    graph.constant('full', [960 * 2, 5]);
    graph.float('shape', { dtype: 'int64', dims: [2], bytes: new Uint8Array(BigInt64Array.of(1n, 1920n).buffer) });
    graph.unit('Conv', ['x', 'conv', 'bias'], ['a'], { attributes: { pads: ints([1, 1, 1, 1]) } });
    graph.unit('Conv', ['a', 'depth'], ['b'], { attributes: { pads: ints([1, 1, 1, 1]), group: int(16) } });
    graph.unit('ConvTranspose', ['b', 'up'], ['c'], { attributes: { strides: ints([2, 2]) } });
    graph.unit('Reshape', ['c', 'shape'], ['d']);
    graph.unit('Gemm', ['d', 'full'], ['e']);
    graph.output('e');
    const { report } = await compileModel('m', graph.build(), target, { evaluate, undocumented: 'cpu', accept: 'quantized' });
    const of = (name: string) => report.units.find(unit => unit.name === name);
    expect(of('Conv_a')).toMatchObject({ macs: 16 * 120 * 8 * 9, inputBytes: 8 * 120, outputBytes: 16 * 120 });
    // Weights, int32 bias, and scales (4 bytes) with zero points (1; 4 of the bias) of input, weight, bias and output.
    expect(of('Conv_a')?.weightBytes).toBe(16 * 8 * 9 + 16 * 4 + (4 + 1) + (4 + 1) + (4 + 4) + (4 + 1));
    expect(of('Conv_b')).toMatchObject({ macs: 16 * 120 * 9 });
    expect(of('ConvTranspose_c')).toMatchObject({ macs: 16 * 120 * 4 * 4 });
    expect(of('Reshape_d')).toMatchObject({ macs: 0, inputBytes: 1920, outputBytes: 1920 });
    expect(of('Gemm_e')).toMatchObject({ macs: 1920 * 5 });
    expect(report.counts.macs).toBe(16 * 120 * 72 + 16 * 120 * 9 + 16 * 120 * 16 + 9600);
  });
});
