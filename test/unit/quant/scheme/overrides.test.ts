/** Overrides change exactly the tensors that they select, and are refused where they have no effect. */
import type { Model } from '../../../../src/onnx/ir/model.js';
import { planQuantization, type QuantizationPlan } from '../../../../src/quant/placement/plan-quantization.js';
import { checkEffect, resolveOverrides } from '../../../../src/quant/placement/resolve-overrides.js';
import { insertQdq } from '../../../../src/quant/qdq/insert-qdq.js';
import { checkKnobs } from '../../../../src/quant/scheme/check-settings.js';
import { findExcluded, type Override } from '../../../../src/quant/scheme/overrides.js';
import { PRESETS, type QuantizationScheme } from '../../../../src/quant/scheme/scheme.js';
import { nodeLines, rangesOf, smallGraph } from '../small-graph.js';

/** x → Conv "Conv_a" → a → Relu → r → MaxPool → m → Conv "Conv_y" → y, both convolutions with weight and bias. */
function network(): Model {
  const small = smallGraph();
  small.input('x', [1, 1, 2, 2]);
  for (const part of ['first', 'second']) {
    small.floats(`${part}.weight`, [2, 1, 1, 1], [0.5, -2]);
    small.floats(`${part}.bias`, [2], [0.25, 1]);
  }
  small.ints('shape', [1, 1, 4, 2]);
  small.node('Conv x first.weight first.bias -> a');
  small.node('Relu a -> r');
  small.node('Reshape r shape -> m');
  small.node('Conv m second.weight second.bias -> y');
  small.output('y');
  return small.model;
}

function plan(overrides: readonly Override[], scheme: QuantizationScheme = PRESETS.u8s8): { model: Model; planned: QuantizationPlan } {
  const model = network();
  const resolved = resolveOverrides(model.graph, overrides, scheme);
  const planned = planQuantization(model.graph, {
    scheme,
    observations: rangesOf(model, { low: -1, high: 1 }, { r: { low: 0, high: 2 } }),
    excluded: new Set(),
    settings: resolved.settings,
  });
  checkEffect(model.graph, planned, resolved);
  return { model, planned };
}

const nameOf = (model: Model, id: unknown): string => [...model.graph.values.values()].find(value => value.id === id)?.name ?? '';

/** dtype, scale and zero point of each tensor by name. */
function parameters({ model, planned }: ReturnType<typeof plan>): Record<string, readonly [string, ...number[]]> {
  return Object.fromEntries([
    ...planned.activations.map(({ value, dtype, qparams }) => [nameOf(model, value), [dtype, qparams.scale, qparams.zeroPoint]]),
    ...planned.weights.map(({ value, qparams }) => [nameOf(model, value), [qparams.dtype, ...qparams.slices.map(({ scale }) => scale)]]),
    ...planned.biases.map(({ value, dtype, scales }) => [nameOf(model, value), [dtype, ...scales]]),
  ]);
}

const before = parameters(plan([]));
const f = Math.fround;

describe('overrides', () => {
  it.each<[string, Override[], Record<string, readonly unknown[]>]>([
    ['dtype by name', [{ tensor: 'y', set: { dtype: 'uint16' } }], { y: ['uint16', f(2 / 65535), 32768] }],
    ['dtype and symmetry', [{ tensor: 'x', set: { dtype: 'int8', symmetric: true } }], { x: ['int8', f(2 / 254), 0] }],
    ['reduced range', [{ tensor: 'y', set: { reduceRange: true } }], { y: ['uint8', f(2 / 127), 64] }],
    ['a range', [{ tensor: 'y', set: { range: { low: 0, high: 4 } } }], { y: ['uint8', f(4 / 255), 0] }],
    ['scale and zero point', [{ tensor: 'y', set: { scale: 0.1, zeroPoint: 3 } }], { y: ['uint8', f(0.1), 3] }],
    [
      'the later of two wins',
      [
        { tensor: 'y', set: { scale: 0.1 } },
        { tensor: '*y', set: { range: { low: 0, high: 1 } } },
      ],
      { y: ['uint8', f(1 / 255), 0] },
    ],
    ['outputs of a node', [{ node: { op: 'Conv', output: 'y' }, set: { scale: 0.5 } }], { y: ['uint8', 0.5, 0] }],
    ['inputs of a node', [{ node: 'Conv_a', of: 'inputs', set: { scale: 0.5, zeroPoint: 128 } }], { x: ['uint8', 0.5, 128] }],
    ['per channel', [{ node: 'Conv_y', of: 'weights', set: { perChannel: true } }], { 'second.weight': ['int8', f(1 / 254), f(4 / 254)] }],
    [
      'weights of a pattern',
      [{ tensor: '*.weight', set: { dtype: 'int16' } }],
      { 'first.weight': ['int16', f(4 / 65534)], 'second.weight': ['int16', f(4 / 65534)] },
    ],
    ['the range of a weight', [{ tensor: 'first.weight', set: { range: { low: -1, high: 1 } } }], { 'first.weight': ['int8', f(2 / 254)] }],
    [
      'powers of two',
      [
        {
          tensor: 'first.weight',
          set: { range: { kind: 'power-of-two', position: { kind: 'non-overflow', of: { kind: 'min-max' }, rounding: 'up' } } },
        },
      ],
      { 'first.weight': ['int8', 2 ** -5] },
    ],
    [
      'a bias',
      [{ node: 'Conv_y', of: 'bias', set: { bias: { dtype: 'int16', scale: 'power-of-two' } } }],
      { 'second.bias': ['int16', 2 ** -14] },
    ],
  ])('%s', (_what, overrides, changed) => {
    const found = parameters(plan(overrides));
    for (const [name, expected] of Object.entries(changed)) expect([name, found[name]]).toEqual([name, expected]);
    // A bias follows the scales of its node unless it has one of its own.
    const untouched = Object.keys(before).filter(name => !(name in changed) && !name.endsWith('.bias'));
    expect(Object.fromEntries(untouched.map(name => [name, found[name]]))).toEqual(
      Object.fromEntries(untouched.map(name => [name, before[name]])),
    );
  });

  it('a value with shared parameters uses those set on the value it shares them with', () => {
    const { r, m } = parameters(plan([{ tensor: 'r', set: { scale: 0.25, zeroPoint: 0 } }]));
    expect([r, m]).toEqual([
      ['uint8', 0.25, 0],
      ['uint8', 0.25, 0],
    ]);
  });

  it('a Relu stays if the set parameters do not saturate at its bounds', () => {
    expect(plan([]).planned.removals).toHaveLength(1);
    expect(plan([{ tensor: 'r', set: { scale: 0.25, zeroPoint: 5 } }]).planned.removals).toEqual([]);
  });

  it('matches: any accepts a tensor that the model lacks', () => {
    expect(parameters(plan([{ tensor: 'mask_*', matches: 'any', set: { dtype: 'int8' } }]))).toEqual(before);
    expect(parameters(plan([{ node: { op: 'Gemm' }, matches: 'any', set: { dtype: 'int8' } }]))).toEqual(before);
  });

  it.each<[string, Override, string, RegExp]>([
    ['no tensor', { tensor: 'first.wieght', set: { dtype: 'int8' } }, 'selector-matches-nothing', /no value .* "first\.wieght"/],
    ['no node', { node: { op: 'Convv' }, set: { dtype: 'int8' } }, 'selector-matches-nothing', /no node/],
    [
      'nodes without such tensors',
      { node: 'Relu_r', of: 'weights', set: { dtype: 'int8' } },
      'selector-matches-nothing',
      /have no weights/,
    ],
    [
      'a tensor that shares its parameters',
      { tensor: 'm', set: { dtype: 'int8' } },
      'override-without-effect',
      /takes scale and zero point from "r"/,
    ],
    ['a fused tensor', { tensor: 'a', set: { dtype: 'int8' } }, 'override-without-effect', /Relu is fused .*: set "r"/],
    ['an integer tensor', { tensor: 'shape', set: { dtype: 'int8' } }, 'override-without-effect', /its type is int64/],
    ['a bias without `bias`', { tensor: 'first.bias', set: { dtype: 'int8' } }, 'override-without-effect', /it is a bias/],
    [
      'a weight by percentile',
      { tensor: 'first.weight', set: { range: { kind: 'percentile', percentile: 99, sides: 'each' } } },
      'override-without-effect',
      /min-max, clip, mse or power-of-two\), not percentile/,
    ],
    ['an activation per channel', { tensor: 'y', set: { perChannel: true } }, 'override-without-effect', /perChannel and bias/],
    [
      'a zero point outside the type',
      { tensor: 'y', set: { scale: 1, zeroPoint: 256 } },
      'contradictory-settings',
      /256 is outside of uint8/,
    ],
  ])('%s is refused', (_what, override, code, message) => {
    expect(() => plan([override])).toThrow(expect.objectContaining({ code, message: expect.stringMatching(message) }));
  });

  it('a power-of-two method refuses other scales, and the help has the nearest one', () => {
    const set = () => plan([{ tensor: 'y', set: { scale: 0.1 } }], PRESETS.xint8);
    expect(set).toThrow(expect.objectContaining({ code: 'contradictory-settings', help: expect.stringMatching(/^set scale to 0\.125/) }));
    expect(parameters(plan([{ tensor: 'y', set: { scale: 0.125 } }], PRESETS.xint8)).y).toEqual(['uint8', 0.125, 128]);
  });

  it.each<[Override['set'], string]>([
    [{ scale: 1, range: { low: 0, high: 1 } }, 'scale and range'],
    [{ zeroPoint: 1 }, 'zeroPoint is set without scale'],
    [{ range: { low: 2, high: 1 } }, 'low 2 is above high 1'],
    [{ bias: { dtype: 'int8', scale: 'product' } }, 'too small'],
  ])('%j contradicts itself', (knobs, message) => {
    expect(checkKnobs(knobs).join()).toContain(message);
  });
});

describe('excluded tensors', () => {
  function quantize(...tensors: string[]): string[] {
    const model = network();
    const { values, nodes } = findExcluded(
      model.graph,
      tensors.map(tensor => ({ tensor })),
    );
    const observations = rangesOf(model, { low: -1, high: 1 });
    insertQdq(
      model,
      planQuantization(model.graph, { scheme: PRESETS.u8s8, observations, excluded: nodes, excludedValues: values }),
      'ai.onnx',
    );
    return nodeLines(model);
  }

  it('an activation stays in float, and so do nodes that only move it', () => {
    const lines = quantize('r');
    expect(lines).toContain('Reshape(r, shape) -> m');
    expect(lines.some(line => line.startsWith('QuantizeLinear(r,'))).toBe(false);
    expect(lines).toContain(
      'Conv(m_DequantizeLinear_Output, second.weight_DequantizeLinear_Output, second.bias_DequantizeLinear_Output) -> y_QuantizeLinear_Input',
    );
  });

  it('weights and biases stay in float', () => {
    expect(quantize('*.weight')).toContain('Conv(x_DequantizeLinear_Output, first.weight, first.bias) -> a');
    expect(quantize('first.bias')).toContain('Conv(x_DequantizeLinear_Output, first.weight_DequantizeLinear_Output, first.bias) -> a');
  });
});
