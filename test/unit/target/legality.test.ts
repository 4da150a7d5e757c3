/** Every legality rule fires where it should, with measured value, limit and source, and nowhere else. */
import { float, int, ints, string } from '../../../src/onnx/ir/attribute.js';
import { evaluate } from '../../../src/runtime/session/evaluate.js';
import { compileModel } from '../../../src/target/compile-model.js';
import { chooseTarget, getBuiltInProfile, type TargetChoice } from '../../../src/target/profile/choose-target.js';
import type { Device, ModelReport } from '../../../src/target/report/compile-report.js';
import { type QdqGraph, type QdqParams, qdqGraph } from '../../support/qdq-graph.js';
import { floats, integers, randomConstant, smallModel } from '../../support/small-model.js';

type Build = (graph: QdqGraph) => void;

async function judge(build: Build, choice: TargetChoice = {}, name = 'ryzen-ai', largerBatch: Device = 'cpu'): Promise<ModelReport> {
  const graph = qdqGraph();
  build(graph);
  const target = chooseTarget(getBuiltInProfile(name), choice);
  return (await compileModel('m', graph.build(), target, { evaluate, undocumented: 'cpu', largerBatch, accept: 'any' })).report;
}

/** "rule severity: measured | limit | source" of every finding, of units and of the model. */
function findingsOf({ units, findings }: ModelReport): string[] {
  return [...findings, ...units.flatMap(unit => unit.findings)].map(
    ({ rule, severity, measured, limit, source }) => `${rule} ${severity}: ${measured} | ${limit} | ${source.title}`,
  );
}

/** Two Conv before the tested node, so that no part is too small. */
function start(graph: QdqGraph, params: QdqParams = {}): string {
  graph.input('x', [1, 4, 8, 8], params);
  for (const [index, from, to] of [
    [0, 'x', 'c0'],
    [1, 'c0', 'c1'],
  ] as const) {
    graph.constant(`w${index}`, [4, 4, 1, 1]);
    graph.unit('Conv', [from, `w${index}`], [to], { params });
  }
  return 'c1';
}

function then(
  op: string,
  attributes: Parameters<QdqGraph['unit']>[3] = {},
  more: (graph: QdqGraph) => readonly string[] = () => [],
): Build {
  return graph => {
    const x = start(graph);
    graph.unit(op, [x, ...more(graph)], ['y'], attributes);
    graph.output('y');
  };
}

const weight =
  (dims: readonly number[], params: QdqParams = {}) =>
  (graph: QdqGraph): readonly string[] => {
    graph.constant('w', dims, params);
    return ['w'];
  };

const float32 =
  (name: string, dims: readonly number[], values: readonly number[], inputs = [name]) =>
  (graph: QdqGraph): readonly string[] => {
    graph.float(name, floats(dims, values));
    return inputs;
  };

const shape =
  (dims: readonly number[]) =>
  (graph: QdqGraph): readonly string[] => {
    graph.float('shape', integers(dims));
    return ['shape'];
  };

function floatWeight(graph: QdqGraph): readonly string[] {
  graph.float('w', randomConstant([4, 4, 1, 1]));
  return ['w'];
}

const AIE2P = 'AMD target description AMD_AIE2P_4x4_Overlay';
const VAIP = 'AMD VitisAI execution provider, to_xir_ops';

describe('a legal model', () => {
  it('may end with a quantized Reshape before a DequantizeLinear', async () => {
    expect(findingsOf(await judge(then('Reshape', {}, shape([1, -1]))))).toEqual([]);
  });

  it('has no findings and is one NPU part, with its edge nodes counted separately', async () => {
    const report = await judge(then('Relu'));
    expect(findingsOf(report)).toEqual([]);
    expect(report).toMatchObject({ legal: true, counts: { npuParts: 1, parts: 1, cpuNodes: 0, edgeNodes: 2, npuMacShare: 1 } });
  });
});

/** Name, model, findings, and a rule that always fires with them. */
const CASES: readonly (readonly [string, Build, string, (string | readonly string[])?])[] = [
  [
    'a kernel that is too large',
    then('Conv', { attributes: { pads: ints([5, 5, 5, 5]) } }, weight([4, 4, 11, 11])),
    `kernel refused: kernel 11×11 | 1 to 9 in each direction | ${AIE2P}`,
  ],
  [
    'a stride of a depthwise Conv',
    then('Conv', { attributes: { group: int(4), strides: ints([4, 4]) } }, weight([4, 1, 1, 1])),
    `stride refused: stride 4×4 | 1 to 2 in each direction | ${AIE2P}`,
    'observed',
  ],
  [
    'groups',
    then('Conv', { attributes: { group: int(2) } }, weight([4, 2, 1, 1])),
    'groups undocumented: 2 groups of 2 channels, 4 outputs | one group | AMD Ryzen AI, Supported Operators (1.5)',
  ],
  [
    'output padding',
    then('ConvTranspose', { attributes: { output_padding: ints([1, 1]), strides: ints([2, 2]) } }, weight([4, 4, 2, 2])),
    `attribute refused: output_padding 1, 1 | 0 | ${VAIP}`,
    'operator',
  ],
  [
    'an activation function that is not fused',
    then('Conv', { activation: 'Tanh' }, weight([4, 4, 1, 1])),
    `activation refused: Tanh fused with Conv | Relu, Clip, LeakyRelu, PRelu, HardSigmoid, HardSwish | ${AIE2P}`,
  ],
  [
    'a HardSigmoid of other slope',
    then('Relu', { activation: 'HardSigmoid', activationAttributes: { alpha: float(0.2) } }),
    `attribute refused: alpha 0.2000 | 0.1667 | ${VAIP}`,
    'operator',
  ],
  [
    'an unknown mode of Resize',
    then('Resize', { attributes: { mode: string('cubic') } }, float32('s', [4], [1, 1, 2, 2], ['', 's'])),
    `attribute refused: mode cubic | nearest, linear | ${VAIP}`,
  ],
  [
    'a Clip without an upper bound',
    then('Clip', {}, float32('low', [], [0])),
    `constant-input refused: input 2 is missing | inputs 1, 2 constant | ${VAIP}`,
  ],
  [
    'an operator that is not documented',
    then('Sigmoid'),
    'operator undocumented: Sigmoid | Sigmoid is documented for a16w8, a8w8, bf16 | AMD Ryzen AI, Supported Operators (1.5)',
  ],
  [
    'two outputs',
    graph => {
      const x = start(graph);
      graph.plain('MaxPool', [x], ['y', 'z'], { kernel_shape: ints([2, 2]) });
      graph.output('y', 'z');
    },
    `outputs refused: outputs 2 | 1 | ${VAIP}`,
    'not-quantized',
  ],
  [
    'a Reshape that gives an output of the model',
    graph => {
      const x = start(graph);
      graph.float('shape', integers([1, -1]));
      graph.plain('Reshape', [x, 'shape'], ['y']);
      graph.output('y');
    },
    'trailing-reshape refused: Reshape at the end of the model | no Flatten, Reshape, Squeeze without Q and DQ after it at an output | AMD VitisAI execution provider, convert_ending_blacklist_ops_to_unknown_op',
    'float-island',
  ],
  [
    'a scale per channel',
    then('Conv', {}, weight([4, 4, 1, 1], { scale: [0.5, 0.25, 0.5, 1] })),
    `per-channel refused: 4 scales along axis 1 of weight "w" | one scale per tensor | ${VAIP}`,
  ],
  [
    'a zero point beside the middle',
    then('Relu', { params: { zeroPoint: 0 } }),
    `zero-point refused: zero point 0 of activation "y" (uint8) | 128 | ${VAIP}`,
  ],
  [
    'integers of another width',
    then('Conv', {}, weight([4, 4, 1, 1], { dtype: 'int16' })),
    'weight-type refused: weight "w" int16 | int8 | AMD Quark, presets XINT8, A8W8, A16W8',
  ],
  [
    'a weight in float',
    then('Conv', {}, floatWeight),
    'weight-float refused: weight "w" float32 | integers | AMD Quark, presets XINT8, A8W8, A16W8',
  ],
  [
    'a shift that is too far',
    then('Conv', { params: { scale: 2 ** 20 } }, weight([4, 4, 1, 1])),
    'shift-cut warning: position of weight + input − output = 28 | 0 to 16 | AMD Quark, position constraints of the DPU (refine.py)',
  ],
  [
    'a pool that changes the position',
    then('MaxPool', { attributes: { kernel_shape: ints([2, 2]) }, params: { scale: 2 ** -3 } }),
    'position-aligned warning: position of an input − output = 1 | 0 | AMD Quark, position constraints of the DPU (refine.py)',
  ],
  [
    'a global average that changes the position',
    then('GlobalAveragePool', { params: { scale: 2 ** -6 } }),
    'position-aligned warning: position of an input − output = -2 | 0 | AMD Quark, position constraints of the DPU (refine.py)',
  ],
  [
    'a bias shifted to the left before a LeakyRelu',
    then('Conv', { activation: 'LeakyRelu' }, graph => {
      graph.constant('w', [4, 4, 1, 1]);
      graph.constant('b', [4], { scale: 2 ** -9 });
      return ['w', 'b'];
    }),
    'shift-bias warning: position of weight + input − bias = -1 | 0 to 15 | AMD Quark, position constraints of the DPU (refine.py)',
  ],
  [
    'a HardSigmoid with too few bits behind the point',
    then('HardSigmoid', { attributes: { alpha: float(1 / 6), beta: float(0.5) }, params: { scale: 2 ** -6 } }),
    'shift-hard-sigmoid warning: position of the output = 6 | at least 7 | AMD Quark, position constraints of the DPU (refine.py)',
    ['observed', 'operator'],
  ],
  [
    'a swish that shifts too far',
    graph => {
      const x = start(graph);
      graph.unit('HardSigmoid', [x], ['g'], { attributes: { alpha: float(1 / 6), beta: float(0.5) }, params: { scale: 2 ** -10 } });
      graph.unit('Mul', [x, 'g'], ['y'], { params: { scale: 2 ** 2 } });
      graph.output('y');
    },
    'shift-swish warning: positions of the inputs − output = 16 | 0 to 15 | AMD Quark, position constraints of the DPU (refine.py)',
    ['observed', 'operator'],
  ],
];

describe('one finding with its numbers', () => {
  for (const [name, build, expected, also] of CASES) {
    it(`reports measured value, limit and source for ${name}`, async () => {
      const found = findingsOf(await judge(build));
      expect(found).toContain(expected);
      // Edge units may repeat the findings of their neighbors.
      const rules = new Set(found.map(line => line.split(' ')[0]));
      expect([...rules].sort()).toEqual([...new Set([expected.split(' ')[0], ...[also ?? []].flat()])].sort());
    });
  }

  it('names the tensor of a scale that is not a power of two, once per unit that uses it', async () => {
    const report = await judge(then('Relu', { params: { scale: 0.1 } }));
    expect(findingsOf(report)).toEqual(
      Array(2).fill(`scale-power-of-two refused: scale 0.100000 of activation "y" | a power of two | ${VAIP}`),
    );
  });

  it('lists all failures of a unit, not only the first', async () => {
    const report = await judge(
      then(
        'Conv',
        { params: { scale: 0.1, zeroPoint: 3 }, attributes: { strides: ints([5, 5]), pads: ints([5, 5, 5, 5]) } },
        weight([4, 4, 10, 10], { scale: 0.3 }),
      ),
    );
    const unit = report.units.find(one => one.name === 'Conv_y');
    expect(unit?.findings.map(finding => finding.rule)).toEqual([
      'kernel',
      'stride',
      'scale-power-of-two',
      'scale-power-of-two',
      'zero-point',
    ]);
  });

  it('accepts float scales and any zero point for a8w8', async () => {
    const build = (graph: QdqGraph): void => {
      const x = start(graph, { scale: 0.07, zeroPoint: 3, dtype: 'int8' });
      graph.unit('Relu', [x], ['y'], { params: { scale: 0.1, zeroPoint: -128, dtype: 'int8' } });
      graph.output('y');
    };
    expect(findingsOf(await judge(build, { dtype: 'a8w8' }))).toEqual([]);
  });
});

describe('float islands', () => {
  it('are on the CPU with their neighbors named; the rest stays quantized', async () => {
    const report = await judge(graph => {
      const x = start(graph);
      graph.plain('HardSwish', [x], ['s']);
      graph.plain('Neg', ['s'], ['n']);
      graph.output('n');
    });
    const islands = report.units.filter(unit => unit.findings.some(finding => finding.rule === 'float-island'));
    expect(islands.map(unit => [unit.opType, unit.device, unit.findings[0]?.measured])).toEqual([
      ['HardSwish', 'cpu', 'Neg reads "s" without QuantizeLinear'],
      ['Neg', 'cpu', 'input "s" is not quantized; model output "n" is not quantized'],
    ]);
    expect(report.counts).toMatchObject({ npuParts: 1, cpuNodes: 2, edgeNodes: 2 });
  });
});

describe('findings about the whole model', () => {
  it('with one Conv runs on the CPU', async () => {
    const report = await judge(graph => {
      graph.input('x', [1, 4, 8, 8]);
      graph.constant('w', [4, 4, 1, 1]);
      graph.unit('Conv', ['x', 'w'], ['y']);
      graph.output('y');
    });
    expect(report.findings).toMatchObject([{ rule: 'too-few-conv', measured: '1 Conv', limit: '2 or more' }]);
    expect(report.counts).toMatchObject({ npuNodes: 0, npuParts: 0, parts: 1 });
    expect(report.legal).toBe(false);
  });

  const batchOf3: Build = graph => {
    graph.input('x', [3, 4, 8, 8]);
    graph.constant('w', [4, 4, 1, 1]);
    graph.constant('v', [4, 4, 1, 1]);
    graph.unit('Conv', ['x', 'w'], ['y']);
    graph.unit('Conv', ['y', 'v'], ['z']);
    graph.output('z');
  };

  it('refuse a batch above 1 in XINT8 by the board that showed it, and put the model on the CPU', async () => {
    const report = await judge(batchOf3, {}, 'ryzen-ai', 'npu');
    expect(findingsOf(report)).toEqual([
      'batch refused: batch 3 | 1 | AMD RyzenAI-SW issue 401: ResNet50 in XINT8 with batch 2 on Phoenix, Ryzen AI 1.7.1, 2026-09-06',
    ]);
    expect(report.findings[0]?.source).toMatchObject({ kind: 'observed', ref: 'https://github.com/amd/RyzenAI-SW/issues/401' });
    expect(report).toMatchObject({ legal: false, counts: { npuParts: 0, npuMacShare: 0 } });
    expect(report.units[0]?.demoted).toBe('the batch of input "x_f" is 3; xint8 on stx-krk takes 1');
  });

  it('refuse a batch above 1 in A8W8 and A16W8 by assumption, unless the params trust it', async () => {
    const found = await judge(batchOf3, { dtype: 'a8w8' });
    expect(findingsOf(found)).toEqual(['batch undocumented: batch 3 | 1 | a choice of this project: nobody publishes the value']);
    expect(found).toMatchObject({ legal: false, counts: { npuParts: 0 } });
    const trusted = await judge(batchOf3, { dtype: 'a8w8' }, 'ryzen-ai', 'npu');
    expect(findingsOf(trusted)).toEqual(['batch warning: batch 3 | 1 | a choice of this project: nobody publishes the value']);
    expect(trusted).toMatchObject({ legal: true, counts: { npuParts: 1 } });
  });

  it('moves the NPU parts with the fewest MACs beyond the target’s limit to the CPU', async () => {
    const profile = {
      ...(getBuiltInProfile('ryzen-ai') as object),
      graph: {
        ...(getBuiltInProfile('ryzen-ai') as { graph: object }).graph,
        minConvs: { value: 1, source: 'vaip-settings' },
        maxSubgraphs: { value: 1, source: 'vaip-settings' },
      },
    };
    const model = qdqGraph();
    model.input('x', [1, 4, 8, 8]);
    model.constant('small', [4, 4, 1, 1]);
    model.constant('large', [4, 4, 3, 3]);
    model.unit('Conv', ['x', 'small'], ['a']);
    model.unit('Sigmoid', ['a'], ['s']);
    model.unit('Conv', ['s', 'large'], ['b'], { attributes: { pads: ints([1, 1, 1, 1]) } });
    model.output('b');
    const { report } = await compileModel('m', model.build(), chooseTarget(profile as never, {}), {
      evaluate,
      undocumented: 'cpu',
      accept: 'any',
    });
    expect(report.findings).toMatchObject([{ rule: 'too-many-subgraphs', severity: 'warning' }]);
    expect(report.units.filter(unit => unit.device === 'npu' && !unit.edge).map(unit => unit.name)).toEqual(['Conv_b']);
    expect(report.counts.npuParts).toBe(1);
  });
});

describe('an undocumented operator', () => {
  it('runs on the CPU, or on the NPU if params trust it; the finding stays', async () => {
    const graph = qdqGraph();
    then('Sigmoid')(graph);
    const model = graph.build();
    const target = chooseTarget(getBuiltInProfile('ryzen-ai'), {});
    const place = async (undocumented: 'cpu' | 'npu') =>
      (await compileModel('m', model, target, { evaluate, undocumented, accept: 'any' })).report;
    expect((await place('cpu')).counts).toMatchObject({ cpuNodes: 4, npuParts: 1 });
    const trusted = await place('npu');
    expect(trusted.counts).toMatchObject({ cpuNodes: 0, npuParts: 1 });
    expect(trusted.legal).toBe(false);
  });

  it('depends on the software version: the lists up to 1.4 have ConvTranspose', async () => {
    const build = then('ConvTranspose', { attributes: { strides: ints([2, 2]) } }, weight([4, 4, 2, 2]));
    expect(findingsOf(await judge(build, { version: '1.4' }))).toEqual([]);
    const [unit] = (await judge(build, { version: '1.5' })).units.filter(one => one.opType === 'ConvTranspose');
    expect(unit?.findings[0]?.fixIts).toMatchObject([{ rule: 'conv-transpose-depth-to-space', effect: 'exact' }]);
  });

  it('offers no rewrite that would decline, for a ConvTranspose whose kernel differs from its stride', async () => {
    const build = then('ConvTranspose', { attributes: { strides: ints([2, 2]) } }, weight([4, 4, 3, 3]));
    const [unit] = (await judge(build)).units.filter(one => one.opType === 'ConvTranspose');
    expect(unit?.findings[0]?.fixIts).toEqual([]);
  });
});

describe('a float model', () => {
  it('is checked only by rules on shapes and operators', async () => {
    const model = smallModel({
      inputs: { x: ['float32', ['batch', 4, 8, 8]] },
      constants: { w: randomConstant([4, 4, 11, 11]) },
      nodes: [
        { op: 'Conv', in: ['x', 'w'], out: ['y'], attributes: { pads: ints([5, 5, 5, 5]) } },
        { op: 'Sigmoid', in: ['y'], out: ['z'] },
      ],
      outputs: ['z'],
    });
    const target = chooseTarget(getBuiltInProfile('ryzen-ai'), {});
    const { report } = await compileModel('m', model, target, { evaluate, undocumented: 'cpu', accept: 'any' });
    const rules = report.units.map(unit => unit.findings.map(finding => finding.rule));
    expect(rules).toEqual([
      ['kernel', 'shape-dynamic', 'shape-dynamic'],
      ['operator', 'shape-dynamic', 'shape-dynamic'],
    ]);
  });
});
