/** The effect of each placement setting on the graph. */
import { getDefined } from '../../../../src/base/invariant.js';
import { int, ints } from '../../../../src/onnx/ir/attribute.js';
import type { Model } from '../../../../src/onnx/ir/model.js';
import { encodeModel } from '../../../../src/onnx/serde/encode-model.js';
import type { Range } from '../../../../src/quant/integers/qparams.js';
import { planQuantization, type QuantizationPlan } from '../../../../src/quant/placement/plan-quantization.js';
import { insertQdq } from '../../../../src/quant/qdq/insert-qdq.js';
import { type PlacementScheme, PRESETS, type QuantizationScheme } from '../../../../src/quant/scheme/scheme.js';
import { NO_SETTINGS } from '../../../../src/quant/scheme/tensor-settings.js';
import { openSession } from '../../../../src/runtime/session/session.js';
import { makeTensor } from '../../../../src/tensor/tensor.js';
import { convGraph, nodeLines, rangesOf, type SmallGraph, valueNamed } from '../small-graph.js';

const UNIT: Range = { low: -1, high: 1 };

function withPlacement(placement: Partial<PlacementScheme>, scheme: QuantizationScheme = PRESETS.u8s8): QuantizationScheme {
  return { ...scheme, placement: { ...PRESETS.u8s8.placement, ...placement } };
}

function plan(model: Model, scheme: QuantizationScheme, ranges: Record<string, Range> = {}): QuantizationPlan {
  return planQuantization(model.graph, { scheme, observations: rangesOf(model, UNIT, ranges), excluded: new Set() });
}

const namesOf = (model: Model, planned: QuantizationPlan): string[] =>
  planned.activations.map(({ value }) => model.graph.values.get(value)?.name ?? '');

describe('dropSaturating', () => {
  const clip = (low: number, high: number): SmallGraph => {
    const small = convGraph();
    small.floats('low', [], [low]);
    small.floats('high', [], [high]);
    small.node('Conv x w b -> y');
    small.node('Clip y low high -> z');
    small.output('z');
    return small;
  };

  it.each([
    ['range ends at the bounds', { low: 0, high: 6 }, 1],
    ['range ends inside the bounds', { low: 0, high: 4 }, 1],
    ['integers go beyond the upper bound', { low: 0, high: 8 }, 0],
    ['integers go beyond the lower bound', { low: -1, high: 6 }, 0],
  ])('a Clip is removed only if saturation has the same effect: %s', (_what, range, removed) => {
    const { model } = clip(0, 6);
    expect(plan(model, PRESETS.u8s8, { z: range }).removals).toHaveLength(removed);
  });

  it('a Clip is kept with a power-of-two scale, whose integers saturate at other values', () => {
    const { model } = clip(0, 6);
    const range = { kind: 'power-of-two', position: { kind: 'non-overflow', of: { kind: 'min-max' }, rounding: 'up' } } as const;
    expect(plan(model, { ...PRESETS.u8s8, range }, { z: { low: 0, high: 6 } }).removals).toEqual([]);
  });

  it('if off, a Relu stays', () => {
    const small = convGraph();
    small.node('Conv x w b -> y');
    small.node('Relu y -> z');
    small.output('z');
    const ranges = { z: { low: 0, high: 1 } };
    expect(plan(small.model, withPlacement({}), ranges).removals).toHaveLength(1);
    expect(plan(small.model, withPlacement({ dropSaturating: false }), ranges).removals).toEqual([]);
  });
});

describe('fuseActivations', () => {
  const fused = withPlacement({ fuseActivations: true }, PRESETS.a8w8);

  it.each([
    ['Relu y -> z', {}],
    ['Clip y low high -> z', {}],
    ['LeakyRelu y -> z', {}],
    ['PRelu y slope -> z', {}],
  ])('%s: its input from a Conv is not quantized', (line, attributes) => {
    const small = convGraph();
    small.floats('low', [], [0]);
    small.floats('high', [], [6]);
    small.floats('slope', [1], [0.1]);
    small.node('Conv x w b -> y');
    small.node(line, attributes);
    small.output('z');
    const scheme = { ...fused, opTypes: [...fused.opTypes, 'PRelu'] };
    const planned = plan(small.model, scheme);
    expect(namesOf(small.model, planned)).toEqual(['x', 'z']);
    expect(planned.fusions.map(({ from }) => from)).toEqual([valueNamed(small.model, 'y').id]);
    const unfused = { ...withPlacement({}, PRESETS.a8w8), opTypes: scheme.opTypes };
    expect(namesOf(small.model, plan(small.model, unfused))).toEqual(['x', 'y', 'z']);
  });

  it.each([
    ['something else reads it too', (small: SmallGraph) => small.node('Sigmoid y -> s'), ['z', 's']],
    ['it is an output of the graph', () => undefined, ['z', 'y']],
  ])('does not apply if %s', (_what, addReader, outputs) => {
    const small = convGraph();
    small.node('Conv x w b -> y');
    small.node('Relu y -> z');
    addReader(small);
    small.output(...outputs);
    expect(plan(small.model, fused).fusions).toEqual([]);
  });

  it('does not apply after an operator that only moves data', () => {
    const small = convGraph();
    small.node('Conv x w b -> y');
    small.node('MaxPool y -> m', { kernel_shape: ints([1, 1]) });
    small.node('Relu m -> z');
    small.output('z');
    expect(plan(small.model, fused).fusions).toEqual([]);
  });
});

describe('chosen elements', () => {
  // Requantizing with a scale of their own would round what is exact: onnxruntime.quantization shares the parameters too.
  it.each([
    ['GatherElements y i -> z', 'z'],
    ['TopK y k -> z p', 'z'],
  ])('%s: they keep the parameters of the tensor they are chosen from', (line, chosen) => {
    const small = convGraph();
    small.ints('i', [0]);
    small.ints('k', [1]);
    small.node('Conv x w b -> y');
    small.node(line);
    small.node(`Sigmoid ${chosen} -> s`);
    small.output('s');
    const planned = plan(small.model, withPlacement({}), { z: { low: -0.25, high: 0.25 } });
    const planOf = (name: string) => planned.activations.find(({ value }) => value === valueNamed(small.model, name).id);
    expect(planOf('z')).toMatchObject({ sharedWith: valueNamed(small.model, 'y').id, qparams: planOf('y')?.qparams });
    expect(planOf('s')?.sharedWith).toBeUndefined();
  });

  const table = (): SmallGraph => {
    const small = convGraph();
    small.floats('table', [3, 1], [-2, 0.5, 1]);
    small.ints('i', [1, 1]);
    return small;
  };

  // Calibration sees few rows of a table: at a range of their own, the others would saturate.
  it.each(['u8s8', 'a8w8', 'a16w8', 'xint8'] as const)('rows of a constant table keep its parameters: %s', preset => {
    const small = table();
    small.node('Gather table i -> z');
    small.node('Add z x -> s');
    small.output('s');
    const planned = plan(small.model, PRESETS[preset], { z: { low: 0, high: 0.5 } });
    const constant = planned.weights.find(({ value }) => value === valueNamed(small.model, 'table').id);
    const rows = planned.activations.find(({ value }) => value === valueNamed(small.model, 'z').id);
    expect(constant?.qparams.slices).toEqual([rows?.qparams]);
    expect(rows).toMatchObject({ sharedWith: constant?.value, dtype: constant?.qparams.dtype });
  });

  it('rows follow an override of their table', () => {
    const small = table();
    small.node('Gather table i -> z');
    small.node('Add z x -> s');
    small.output('s');
    const planned = planQuantization(small.model.graph, {
      scheme: PRESETS.u8s8,
      observations: rangesOf(small.model, UNIT),
      excluded: new Set(),
      settings: new Map([[valueNamed(small.model, 'table').id, { ...NO_SETTINGS, integers: { dtype: 'uint16' } }]]),
    });
    expect(planned.weights[0]?.qparams.dtype).toBe('uint16');
    expect(planned.activations.find(({ value }) => value === valueNamed(small.model, 'z').id)?.dtype).toBe('uint16');
  });

  /** A table of two rows with different ranges of its columns; the bias does not fit at the scale of the second column. */
  const tied = (order: 'gather first' | 'product first', product: string): SmallGraph => {
    const small = convGraph();
    small.floats('table', [2, 2], [-2, 1e-7, 1, 1e-7]);
    small.floats('c', [2], [0, 1000]);
    small.ints('i', [1]);
    small.input('v', [1, 2]);
    const nodes = ['Gather table i -> z', product];
    for (const line of order === 'gather first' ? nodes : nodes.toReversed()) small.node(line);
    small.node('Add z m -> s');
    small.output('s');
    return small;
  };

  it.each([
    ['u8s8', 'Gemm v table c -> m'],
    ['u8s8-per-channel', 'Gemm v table c -> m'],
    ['u8s8-per-channel', 'MatMul v table -> m'],
    ['a16w8', 'MatMul v table -> m'],
    ['xint8', 'Gemm v table c -> m'],
  ] as const)('rows of a table that is a weight elsewhere get a range of their own, in any order of nodes: %s, %s', (preset, product) => {
    const planned = (['gather first', 'product first'] as const).map(order => {
      const { model } = tied(order, product);
      const made = plan(model, PRESETS[preset], { z: { low: 0, high: 0.5 } });
      const { value: _, ...weight } = getDefined(
        made.weights.find(({ value }) => value === valueNamed(model, 'table').id),
        'table',
      );
      const rows = made.activations.find(({ value }) => value === valueNamed(model, 'z').id);
      return { weight, rows: { shared: rows?.sharedWith, qparams: rows?.qparams, range: rows?.range } };
    });
    const [first, second] = planned;
    expect(first).toEqual(second);
    expect(first?.weight.role).toBe('weight');
    expect(first?.weight.qparams.slices).toHaveLength(preset === 'u8s8-per-channel' ? 2 : 1);
    expect(first?.rows.shared).toBeUndefined();
    // Not the 2 of the table, nor what the bias widens it to.
    expect(first?.rows.range?.high).toBeLessThan(0.51);
  });

  it('a bias widens a table that is a weight, and not its rows', () => {
    const { model } = tied('gather first', 'Gemm v table c -> m');
    const made = plan(model, PRESETS['u8s8-per-channel'], { z: { low: 0, high: 0.5 } });
    expect(made.weights.find(({ value }) => value === valueNamed(model, 'table').id)?.widened).toBe(true);
    expect(made.activations.find(({ value }) => value === valueNamed(model, 'z').id)?.qparams.scale).toBeCloseTo(0.5 / 255, 7);
  });
});

describe('other settings', () => {
  it('dataMovement: a MaxPool of the input is quantized only with force', () => {
    const small = convGraph();
    small.node('MaxPool x -> m', { kernel_shape: ints([1, 1]) });
    small.node('Conv m w b -> y');
    small.output('y');
    expect(namesOf(small.model, plan(small.model, withPlacement({ dataMovement: 'follow' })))).toEqual(['m', 'y']);
    expect(namesOf(small.model, plan(small.model, withPlacement({ dataMovement: 'force' })))).toEqual(['x', 'm', 'y']);
  });

  it('floatOutputs: an output stays in float, unless a quantized node reads it', () => {
    const small = convGraph();
    small.node('Conv x w b -> y');
    small.node('Sigmoid y -> s');
    small.node('Softmax s -> z', { axis: int(1) });
    small.output('z');
    expect(namesOf(small.model, plan(small.model, withPlacement({ floatOutputs: ['Softmax', 'Sigmoid'] })))).toEqual(['x', 'y', 's']);
  });

  it('pairs: each reader and each graph output has its own pair, and results are unchanged', async () => {
    const build = (pairs: PlacementScheme['pairs']): Model => {
      const small = convGraph();
      small.node('Conv x w b -> y');
      small.node('Sigmoid y -> s');
      small.node('Add y s -> z');
      small.output('z', 'y');
      insertQdq(small.model, plan(small.model, withPlacement({ pairs })), 'ai.onnx');
      return small.model;
    };
    const [shared, dedicated] = [build('shared'), build('dedicated')];
    const count = (model: Model, op: string): number => nodeLines(model).filter(line => line.startsWith(op)).length;
    // x, y, s, z; and y once for each of Sigmoid, Add and the output.
    expect([count(shared, 'QuantizeLinear'), count(dedicated, 'QuantizeLinear')]).toEqual([4, 6]);
    expect(new Set(nodeLines(dedicated).flatMap(line => /^(?:Sigmoid|Add)\((\w+)/.exec(line)?.[1] ?? [])).size).toBe(2);
    expect(await run(dedicated)).toEqual(await run(shared));
  });

  it('weights: a float weight with a Q and DQ pair gives the same results as integers', async () => {
    const build = (weights: PlacementScheme['weights'], perChannel: boolean): Model => {
      const small = convGraph();
      small.floats('k', [2, 1, 1, 1], [0.3, -7]);
      small.node('Conv x k -> y');
      small.output('y');
      const scheme = withPlacement({ weights });
      insertQdq(small.model, plan(small.model, { ...scheme, weight: { ...scheme.weight, perChannel } }), 'ai.onnx');
      return small.model;
    };
    for (const perChannel of [false, true]) {
      const [integers, pair] = [build('integers', perChannel), build('pair', perChannel)];
      expect(nodeLines(pair)).toContain('QuantizeLinear(k, k_scale, k_zero_point) -> k_QuantizeLinear_Output');
      expect(nodeLines(integers).some(line => line.startsWith('QuantizeLinear(k,'))).toBe(false);
      expect(await run(pair)).toEqual(await run(integers));
    }
  });

  it('bias float32: the bias is not changed', () => {
    const small = convGraph();
    small.node('Conv x w b -> y');
    small.output('y');
    insertQdq(small.model, plan(small.model, { ...PRESETS.u8s8, bias: { dtype: 'float32', scale: 'product' } }), 'ai.onnx');
    expect(nodeLines(small.model)).toContain('Conv(x_DequantizeLinear_Output, w_DequantizeLinear_Output, b) -> y_QuantizeLinear_Input');
  });

  it('an input that is also an output: readers get the quantized value, the output is unchanged', async () => {
    const small = convGraph();
    small.node('Conv x w b -> y');
    small.output('y', 'x');
    insertQdq(small.model, plan(small.model, PRESETS.u8s8), 'ai.onnx');
    expect(nodeLines(small.model)).toContain(
      'Conv(x_DequantizeLinear_Output, w_DequantizeLinear_Output, b_DequantizeLinear_Output) -> y_QuantizeLinear_Input',
    );
    expect((await run(small.model)).x).toEqual([0.1, -0.2, 0.3, 0.9].map(Math.fround));
  });
});

async function run(model: Model): Promise<Record<string, readonly number[]>> {
  const session = await openSession(encodeModel(model), { optimization: 'disabled' });
  const outputs = await session.run({ x: makeTensor('float32', [1, 1, 2, 2], Float32Array.from([0.1, -0.2, 0.3, 0.9])) });
  await session.close();
  return Object.fromEntries(Object.entries(outputs).map(([name, { data }]) => [name, [...(data as Float32Array)]]));
}
