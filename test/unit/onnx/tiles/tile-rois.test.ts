/** `tileRois` on small graphs: gaps, pitches, every operator it takes, and what it refuses. */
import * as fc from 'fast-check';
import { float, int, ints, string } from '../../../../src/onnx/ir/attribute.js';
import type { Constant, Model } from '../../../../src/onnx/ir/model.js';
import { readConstant } from '../../../../src/onnx/tiles/node-facts.js';
import { tileRois } from '../../../../src/onnx/tiles/tile-rois.js';
import { PRESETS } from '../../../../src/quant/scheme/scheme.js';
import { failureOf } from '../../../support/error-code.js';
import { makeRows } from '../../../support/heads.js';
import { operators } from '../../../support/look-at-model.js';
import { quantizeOn } from '../../../support/quantize-small.js';
import { runOneByOne, runTiled } from '../../../support/run-tiled.js';
import { floats, integers, randomConstant, type SmallNode, smallModel } from '../../../support/small-model.js';

const TILE = [5, 6] as const;
const FULL = { grid: [2, 3], mask: 'full', strides: 'any' } as const;

function head(nodes: readonly SmallNode[], constants: Readonly<Record<string, Constant>> = {}, channels = 4): Model {
  return smallModel({ inputs: { x: ['float32', ['n', channels, ...TILE]] }, constants, nodes, outputs: [nodes.at(-1)?.out[0] ?? ''] });
}

const WEIGHTS = {
  point: randomConstant([4, 4, 1, 1], 3),
  w: randomConstant([4, 4, 3, 3], 5),
  b: randomConstant([4], 7),
};
const pads1 = { pads: ints([1, 1, 1, 1]) };

async function expectSameRows(model: Model, grid: readonly [number, number] = FULL.grid, count = 5): Promise<Model> {
  const rows = makeRows(model, count);
  const tiled = tileRois(model, { ...FULL, grid });
  const { outputs } = await runTiled(tiled, grid, rows);
  for (const [name, values] of Object.entries(await runOneByOne(model, rows))) {
    const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 1e-9);
    const found = outputs[name] ?? new Float32Array(0);
    expect(found).toHaveLength(values.length);
    expect(values.reduce((most, value, at) => Math.max(most, Math.abs(value - (found[at] ?? Number.NaN))), 0) / largest).toBeLessThan(4e-6);
  }
  return tiled.model;
}

const countMasks = (model: Model): number => operators(model).filter(name => name === 'Mul').length;

describe('gaps', () => {
  it('are cleared after a biased 1×1 Conv, and not after one without bias', async () => {
    const following = (inputs: readonly string[]): Model =>
      head(
        [
          { op: 'Conv', in: inputs, out: ['a'] },
          { op: 'Relu', in: ['a'], out: ['r'] },
          { op: 'Conv', in: ['r', 'w'], out: ['y'], attributes: pads1 },
        ],
        WEIGHTS,
      );
    expect(countMasks(await expectSameRows(following(['x', 'point', 'b'])))).toBe(1);
    expect(countMasks(await expectSameRows(following(['x', 'point'])))).toBe(0);
  });

  it('are cleared behind the ReLU, once for all readers', async () => {
    const model = head(
      [
        { op: 'Conv', in: ['x', 'w', 'b'], out: ['a'], attributes: pads1 },
        { op: 'Relu', in: ['a'], out: ['r'] },
        { op: 'Conv', in: ['r', 'w'], out: ['left'], attributes: pads1 },
        { op: 'Conv', in: ['r', 'w', 'b'], out: ['right'], attributes: pads1 },
        { op: 'Add', in: ['left', 'right'], out: ['sum'] },
        { op: 'Add', in: ['sum', 'r'], out: ['residual'] },
        { op: 'Conv', in: ['residual', 'w'], out: ['y'], attributes: pads1 },
      ],
      WEIGHTS,
    );
    const tiled = await expectSameRows(model);
    expect(operators(tiled)).toEqual(['Conv', 'Relu', 'Mul', 'Conv', 'Conv', 'Add', 'Add', 'Mul', 'Conv']);
  });

  it('are cleared in QDQ form by integer 64 at scale 2⁻⁶, and Q and DQ with the scale and zero point of the value', async () => {
    const model = head(
      [
        { op: 'Conv', in: ['x', 'w', 'b'], out: ['a'], attributes: pads1 },
        { op: 'Relu', in: ['a'], out: ['r'] },
        { op: 'Conv', in: ['r', 'w'], out: ['y'], attributes: pads1 },
      ],
      WEIGHTS,
    );
    for (const preset of ['xint8', 'a8w8', 'a16w8'] as const) {
      const quantized = await quantizeOn(model, makeRows(model, 3), PRESETS[preset]);
      const { model: tiled } = tileRois(quantized, FULL);
      const { graph } = tiled;
      const mul = [...graph.nodes.values()].find(({ opType }) => opType === 'Mul');
      const [value, mask] = (mul?.inputs ?? []).map(id => producerOf(tiled, id));
      const after = [...graph.nodes.values()].find(node => node.opType === 'QuantizeLinear' && node.inputs[0] === mul?.outputs[0]);
      expect(after?.inputs.slice(1)).toEqual(value?.inputs.slice(1));
      const [integersId, scale, zero] = mask?.inputs ?? [];
      const numbers = new Set(numbersOf(tiled, integersId));
      const [zeroPoint = 0] = numbersOf(tiled, zero);
      expect(numbersOf(tiled, scale)).toEqual([2 ** -6]);
      expect([...numbers].sort((a, b) => a - b)).toEqual([zeroPoint, zeroPoint + 64]);
    }
  });
});

describe('pitches', () => {
  const strided = head([{ op: 'Conv', in: ['x', 'w'], out: ['y'], attributes: { ...pads1, strides: ints([2, 2]) } }], WEIGHTS);

  it('are multiples of the stride with a gap of at least the padding', () => {
    expect(tileRois(strided, FULL).inputs).toEqual([{ name: 'x', channels: 4, tile: [5, 6], pitch: [6, 8] }]);
    expect(tileRois(strided, FULL).outputs).toEqual([{ name: 'y', channels: 4, tile: [3, 3], pitch: [3, 4] }]);
  });

  it.each([
    [[7, 8], /needs a height pitch of at least 6, and a multiple of 2/],
    [[6, 6], /needs a width pitch of at least 7/],
  ] as const)('of %j are refused with the need that they break', async (pitch, message) => {
    const failure = await failureOf(() => tileRois(strided, { ...FULL, pitch }));
    expect(failure.code).toBe('tiles-pitch');
    expect(failure.message).toMatch(message);
    expect(failure.help).toBe('the smallest possible pitch is 6 × 8');
  });

  it('count padding in input units of every stride level', async () => {
    const model = head(
      [
        { op: 'Conv', in: ['x', 'w', 'b'], out: ['a'], attributes: { ...pads1, strides: ints([2, 2]) } },
        { op: 'Conv', in: ['a', 'w', 'b'], out: ['y'], attributes: { pads: ints([2, 2, 2, 2]), dilations: ints([2, 2]) } },
      ],
      WEIGHTS,
    );
    expect(tileRois(model, FULL).inputs[0]?.pitch).toEqual([10, 10]);
    await expectSameRows(model);
  });
});

describe('padded MaxPool', () => {
  const behind = (...nodes: readonly SmallNode[]): Model =>
    head([...nodes, { op: 'MaxPool', in: ['p'], out: ['y'], attributes: { ...pads1, kernel_shape: ints([3, 3]) } }], {
      ...WEIGHTS,
      low: floats([], [-5]),
      high: floats([], [-1]),
      none: floats([], [0]),
      six: floats([], [6]),
    });
  const relu: SmallNode = { op: 'Relu', in: ['x'], out: ['r'] };

  it('runs on values that a Relu or Clip keeps from being negative', async () => {
    await expectSameRows(behind({ ...relu, out: ['p'] }));
    await expectSameRows(behind({ op: 'Clip', in: ['x', 'none', 'six'], out: ['p'] }));
    await expectSameRows(behind(relu, { op: 'Clip', in: ['r', 'low', 'six'], out: ['p'] }));
  });

  it('is refused behind a Clip whose bounds are negative, also behind a Relu', async () => {
    for (const nodes of [
      [{ op: 'Clip', in: ['x', 'low', 'high'], out: ['p'] }],
      [relu, { op: 'Clip', in: ['r', 'low', 'high'], out: ['p'] }],
    ])
      expect((await failureOf(() => tileRois(behind(...nodes), FULL))).message).toMatch(/its input may be negative/);
  });
});

describe('a head of Flatten and Gemm', () => {
  const GEMMS = {
    ...WEIGHTS,
    first: randomConstant([7, 120], 11),
    firstColumns: randomConstant([120, 7], 13),
    second: randomConstant([3, 7], 17),
    row: randomConstant([7], 19),
  };
  const tail: readonly SmallNode[] = [
    { op: 'Flatten', in: ['r'], out: ['f'] },
    { op: 'Gemm', in: ['f', 'firstColumns', 'row'], out: ['g'] },
    { op: 'Relu', in: ['g'], out: ['h'] },
    { op: 'Gemm', in: ['h', 'second'], out: ['y'], attributes: { transB: int(1) } },
  ];
  const model = head([{ op: 'Conv', in: ['x', 'w', 'b'], out: ['r'], attributes: pads1 }, ...tail], GEMMS);

  it('becomes a Conv of the tile, with the pitch as stride', async () => {
    expect(operators(await expectSameRows(model))).toEqual(['Conv', 'Conv', 'Relu', 'Conv']);
    expect(tileRois(model, FULL).outputs).toEqual([{ name: 'y', channels: 3, tile: [1, 1], pitch: [1, 1] }]);
  });

  it('becomes a Conv with the largest legal stride that divides the pitch, then a strided Slice', async () => {
    const rows = makeRows(model, 5);
    const tiled = tileRois(model, { ...FULL, strides: [1, 2, 4], pitch: [8, 8] });
    expect(operators(tiled.model)).toEqual(['Conv', 'Conv', 'Relu', 'Slice', 'Conv']);
    const { outputs } = await runTiled(tiled, FULL.grid, rows);
    const alone = await runOneByOne(model, rows);
    for (const [at, value] of (alone.y ?? []).entries()) expect(outputs.y?.[at]).toBeCloseTo(value, 2);
  });

  it('treats rows as channels if the head begins with Flatten', async () => {
    const flat = head(
      [
        { op: 'Flatten', in: ['x'], out: ['r'] },
        ...tail
          .slice(1)
          .map(node =>
            node.op === 'Gemm' && node.out[0] === 'g' ? { ...node, in: ['r', 'first', 'row'], attributes: { transB: int(1) } } : node,
          ),
      ],
      GEMMS,
    );
    expect(tileRois(flat, FULL).inputs).toEqual([{ name: 'x', channels: 120, tile: [1, 1], pitch: [1, 1] }]);
    await expectSameRows(flat);
  });

  it('accepts constants, sums and Concats of vectors', async () => {
    const vectors = smallModel({
      inputs: { x: ['float32', ['n', 120]] },
      constants: GEMMS,
      nodes: [
        { op: 'Gemm', in: ['x', 'first'], out: ['a'], attributes: { transB: int(1) } },
        { op: 'Add', in: ['a', 'row'], out: ['shifted'] },
        { op: 'Sub', in: ['a', 'shifted'], out: ['difference'] },
        { op: 'Concat', in: ['shifted', 'difference'], out: ['y'], attributes: { axis: int(-1) } },
      ],
      outputs: ['y'],
    });
    await expectSameRows(vectors);
  });
});

describe('refusals', () => {
  const relu: SmallNode = { op: 'Relu', in: ['x'], out: ['r'] };
  const resize = (mode: string, more = {}): SmallNode => ({
    op: 'Resize',
    in: ['x', '', 'scales'],
    out: ['y'],
    attributes: { mode: string(mode), ...more },
  });
  it.each<[string, readonly SmallNode[], RegExp]>([
    ['bilinear Resize', [resize('linear')], /linear interpolation mixes a tile with its neighbors/],
    [
      'a Resize that reads another position',
      [resize('nearest', { coordinate_transformation_mode: string('asymmetric') })],
      /read another position/,
    ],
    [
      'padded average pooling',
      [{ op: 'AveragePool', in: ['x'], out: ['y'], attributes: { ...pads1, kernel_shape: ints([3, 3]) } }],
      /another count at the edge/,
    ],
    [
      'padded MaxPool of values that may be negative',
      [{ op: 'MaxPool', in: ['x'], out: ['y'], attributes: { ...pads1, kernel_shape: ints([3, 3]) } }],
      /its input may be negative/,
    ],
    [
      'MaxPool with ceil_mode',
      [relu, { op: 'MaxPool', in: ['r'], out: ['y'], attributes: { kernel_shape: ints([2, 2]), ceil_mode: int(1) } }],
      /rounds its output size up/,
    ],
    ['reduction over space', [{ op: 'GlobalAveragePool', in: ['x'], out: ['y'] }], /over all tiles/],
    ['normalization over space', [{ op: 'InstanceNormalization', in: ['x', 'b', 'b'], out: ['y'] }], /over all tiles/],
    ['SAME padding', [{ op: 'Conv', in: ['x', 'w'], out: ['y'], attributes: { auto_pad: string('SAME_UPPER') } }], /auto_pad SAME/],
    ['negative pads', [{ op: 'Conv', in: ['x', 'w'], out: ['y'], attributes: { pads: ints([-1, 0, 0, 0]) } }], /negative pads/],
    [
      'an overlapping ConvTranspose',
      [{ op: 'ConvTranspose', in: ['x', 'w'], out: ['y'], attributes: { strides: ints([2, 2]) } }],
      /results of two tiles overlap/,
    ],
    [
      'branches with different pitches',
      [
        { op: 'Conv', in: ['x', 'w'], out: ['a'], attributes: { ...pads1, strides: ints([2, 2]) } },
        { op: 'Conv', in: ['x', 'tall'], out: ['d'] },
        { op: 'Concat', in: ['a', 'd'], out: ['y'], attributes: { axis: int(1) } },
      ],
      /different canvases: tiles of 3 × 3 at 1\/2 × 1\/2 of the pitch and tiles of 3 × 3 at 1\/1/,
    ],
    ['a join along the height', [{ op: 'Concat', in: ['x', 'x'], out: ['y'], attributes: { axis: int(2) } }], /not that of channels/],
    ['a constant that differs within a tile', [{ op: 'Add', in: ['x', 'map'], out: ['y'] }], /differs within a tile/],
    ['an unknown operator', [{ op: 'CumSum', in: ['x', 'axis'], out: ['y'] }], /not known to keep tiles apart/],
    [
      'a scaled Gemm',
      [
        { op: 'Flatten', in: ['x'], out: ['f'] },
        { op: 'Gemm', in: ['f', 'columns'], out: ['y'], attributes: { alpha: float(2) } },
      ],
      /alpha, beta or transA/,
    ],
  ])('%s', async (_, nodes, reason) => {
    const constants = {
      ...WEIGHTS,
      scales: floats([4], [1, 1, 2, 2]),
      map: randomConstant([1, 4, ...TILE]),
      axis: integers([2]),
      tall: randomConstant([4, 4, 3, 4]),
      columns: randomConstant([120, 2]),
    };
    const failure = await failureOf(() => tileRois(head(nodes, constants), FULL));
    expect(failure.code).toBe('tiles-refused');
    expect(failure.message).toMatch(reason);
  });

  it('name every node that is refused, and none that only follows it', async () => {
    const nodes: readonly SmallNode[] = [
      { op: 'GlobalAveragePool', in: ['x'], out: ['a'] },
      { op: 'Relu', in: ['a'], out: ['r'] },
      { op: 'CumSum', in: ['x', 'axis'], out: ['b'] },
      { op: 'Add', in: ['r', 'b'], out: ['y'] },
    ];
    const { message } = await failureOf(() => tileRois(head(nodes, { axis: integers([2]) }), FULL));
    expect(message.match(/"[a-z]"/g)).toEqual(['"a"', '"b"']);
  });

  it('name an input that is not a row per RoI, inputs of two sizes, and an empty grid', async () => {
    const of = (inputs: Readonly<Record<string, readonly ['float32', readonly (number | string)[]]>>): Model =>
      smallModel({ inputs, nodes: [{ op: 'Identity', in: ['x'], out: ['y'] }], outputs: ['y'] });
    expect(await failureOf(() => tileRois(of({ x: ['float32', ['n', 4, 'h', 6]] }), FULL))).toMatchObject({
      code: 'tiles-input',
      message: /\[n, 4, h, 6\]/,
    });
    expect(await failureOf(() => tileRois(of({ x: ['float32', ['n', 4, 5, 6]], z: ['float32', ['n', 1, 5, 5]] }), FULL))).toMatchObject({
      code: 'tiles-input',
    });
    expect(await failureOf(() => tileRois(head([relu]), { ...FULL, grid: [0, 3] }))).toMatchObject({ code: 'tiles-grid' });
  });
});

describe('random heads', () => {
  it('give each row the same result as without tiles, on any grid', async () => {
    await fc.assert(
      fc.asyncProperty(
        randomHead,
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 1, max: 7 }),
        async (model, a, b, count) => {
          await expectSameRows(model, [a, b], count);
        },
      ),
      { numRuns: 60 },
    );
  });
});

/** Conv with any window, activations, pools, enlargements, residual sums and joins, in a chain. */
const randomHead: fc.Arbitrary<Model> = fc
  .array(
    fc.record({
      kind: fc.constantFrom(
        'conv',
        'conv',
        'conv',
        'relu',
        'sigmoid',
        'max',
        'average',
        'transpose',
        'depth',
        'nearest',
        'residual',
        'join',
      ),
      kernel: fc.tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 3 })),
      pads: fc.tuple(...([0, 1, 2, 3] as const).map(() => fc.integer({ min: 0, max: 2 }))),
      stride: fc.tuple(fc.integer({ min: 1, max: 2 }), fc.integer({ min: 1, max: 2 })),
      dilation: fc.integer({ min: 1, max: 2 }),
      bias: fc.boolean(),
    }),
    { minLength: 1, maxLength: 6 },
  )
  .map(steps => {
    const nodes: SmallNode[] = [];
    const constants: Record<string, Constant> = { scales: floats([4], [1, 1, 2, 2]), b: WEIGHTS.b };
    let x = 'x';
    let size: readonly number[] = TILE;
    const add = (op: string, inputs: readonly string[], attributes: SmallNode['attributes'] = {}): void => {
      const out = `v${nodes.length}`;
      nodes.push({ op, in: inputs, out: [out], attributes });
      x = out;
    };
    for (const [index, { kind, kernel, pads, stride, dilation, bias }] of steps.entries()) {
      const window = (begin: readonly number[], dilated: number): readonly number[] | undefined => {
        const out = size.map(
          (length, axis) =>
            Math.floor(
              (length + (begin[axis] ?? 0) + (begin[axis + 2] ?? 0) - ((kernel[axis] ?? 1) - 1) * dilated - 1) / (stride[axis] ?? 1),
            ) + 1,
        );
        return out.every(length => length >= 1) ? out : undefined;
      };
      const shape = { kernel_shape: ints(kernel), strides: ints(stride) };
      if (kind === 'conv') {
        const out = window(pads, dilation);
        if (out === undefined) continue;
        constants[`w${index}`] = randomConstant([4, 4, ...kernel], index + 1);
        add('Conv', [x, `w${index}`, ...(bias ? ['b'] : [])], { ...shape, pads: ints(pads), dilations: ints([dilation, dilation]) });
        size = out;
      } else if (kind === 'relu') add('Relu', [x]);
      else if (kind === 'sigmoid') add('Sigmoid', [x]);
      else if (kind === 'max') {
        const low = pads.map((pad, axis) => Math.min(pad, (kernel[axis % 2] ?? 1) - 1));
        const out = window(low, 1);
        if (out === undefined) continue;
        add('Relu', [x]);
        add('MaxPool', [x], { ...shape, pads: ints(low) });
        size = out;
      } else if (kind === 'average') {
        const out = window([0, 0, 0, 0], 1);
        if (out === undefined) continue;
        add('AveragePool', [x], shape);
        size = out;
      } else if (kind === 'residual') {
        const before = x;
        constants[`w${index}`] = randomConstant([4, 4, 3, 3], index + 1);
        add('Conv', [x, `w${index}`, ...(bias ? ['b'] : [])], pads1);
        add('Add', [before, x]);
      } else if (kind === 'join') {
        constants[`w${index}`] = randomConstant([4, 8, 1, 1], index + 1);
        add('Concat', [x, x], { axis: int(1) });
        add('Conv', [x, `w${index}`]);
      } else if (Math.max(...size) < 12) {
        size = size.map(length => 2 * length);
        if (kind === 'nearest') add('Resize', [x, '', 'scales'], { mode: string('nearest') });
        else if (kind === 'transpose') {
          constants[`w${index}`] = randomConstant([4, 4, 2, 2], index + 1);
          add('ConvTranspose', [x, `w${index}`, ...(bias ? ['b'] : [])], { strides: ints([2, 2]) });
        } else {
          constants[`w${index}`] = randomConstant([16, 4, 1, 1], index + 1);
          add('Conv', [x, `w${index}`]);
          add('DepthToSpace', [x], { blocksize: int(2) });
        }
      }
    }
    if (nodes.length === 0) add('Relu', [x]);
    return head(nodes, constants);
  });

function producerOf({ graph }: Model, id: (typeof graph.inputs)[number] | undefined) {
  const value = id === undefined ? undefined : graph.values.get(id);
  return value?.producer === undefined ? undefined : graph.nodes.get(value.producer);
}

function numbersOf({ graph }: Model, id: (typeof graph.inputs)[number] | undefined): readonly number[] {
  const constant = id === undefined ? undefined : graph.values.get(id)?.constant;
  return constant === undefined ? [] : [...(readConstant(constant) ?? [])];
}
