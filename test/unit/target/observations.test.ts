/** Each observation of the built-in profile on a small graph: what it changes where it was seen, and that it claims nothing elsewhere. */
import type { Json } from '../../../src/base/json.js';
import { ints, string } from '../../../src/onnx/ir/attribute.js';
import { evaluate } from '../../../src/runtime/session/evaluate.js';
import { compileModel } from '../../../src/target/compile-model.js';
import { chooseTarget, getBuiltInProfile, type TargetChoice } from '../../../src/target/profile/choose-target.js';
import { readProfile } from '../../../src/target/profile/profile-reader.js';
import type { ModelReport } from '../../../src/target/report/compile-report.js';
import { failureOf } from '../../support/error-code.js';
import { type QdqGraph, type QdqParams, qdqGraph } from '../../support/qdq-graph.js';
import { floats } from '../../support/small-model.js';

type Build = (graph: QdqGraph) => void;

const PHX: TargetChoice = { device: 'phx-hpt', dtype: 'xint8', version: '1.7.1' };
const STX: TargetChoice = { device: 'stx-krk', dtype: 'xint8', version: '1.6' };

async function judge(build: Build, choice: TargetChoice, domain = ''): Promise<ModelReport> {
  const graph = qdqGraph();
  build(graph);
  const model = graph.build();
  for (const node of model.graph.nodes.values()) if (/QuantizeLinear$/i.test(node.opType)) node.domain = domain;
  if (domain !== '') model.opsets.set(domain, 1);
  const target = chooseTarget(getBuiltInProfile('ryzen-ai'), choice);
  return (await compileModel('m', model, target, { evaluate, undocumented: 'cpu', accept: 'any' })).report;
}

/** "rule severity source" of every finding, once. */
function findingsOf({ units, findings }: ModelReport): readonly string[] {
  const all = [...findings, ...units.flatMap(unit => unit.findings)];
  return [...new Set(all.map(({ rule, severity, source }) => `${rule} ${severity} ${source.title.split(':')[0]}`))];
}

const deviceOf = ({ units }: ModelReport, opType: string): readonly string[] =>
  units.filter(unit => unit.opType === opType).map(unit => unit.device);

/** Two Conv, and `op` behind them. */
function behindConvs(
  op: string,
  options: Parameters<QdqGraph['unit']>[3] = {},
  more: (graph: QdqGraph) => readonly string[] = () => [],
): Build {
  return graph => {
    startConvs(graph);
    graph.unit(op, ['c1', ...more(graph)], ['y'], options);
    graph.output('y');
  };
}

function startConvs(graph: QdqGraph, weight: QdqParams = {}, params: QdqParams = {}): void {
  graph.input('x', [1, 4, 8, 8]);
  graph.constant('w0', [4, 4, 1, 1]);
  graph.constant('w1', [4, 4, 1, 1], weight);
  graph.unit('Conv', ['x', 'w0'], ['c0']);
  graph.unit('Conv', ['c0', 'w1'], ['c1'], { params });
}

const convs =
  (weight: QdqParams = {}, params: QdqParams = {}): Build =>
  graph => {
    startConvs(graph, weight, params);
    graph.output('c1');
  };

const resize = (mode: string, factor: number): Build =>
  behindConvs('Resize', { attributes: { mode: string(mode) } }, graph => {
    graph.float('scales', floats([4], [1, 1, factor, factor]));
    return ['', 'scales'];
  });

const depthwise: Build = behindConvs('Conv', { attributes: { group: { kind: 'int', value: 4n } } }, graph => {
  graph.constant('d', [4, 1, 1, 1]);
  return ['d'];
});

const biased = (scale: number, dtype: 'int8' | 'int32'): Build =>
  behindConvs('Conv', {}, graph => {
    graph.constant('w', [4, 4, 1, 1]);
    graph.constant('b', [4], { dtype, scale });
    return ['w', 'b'];
  });

const norm: Build = behindConvs('InstanceNormalization', {}, graph => {
  graph.constant('s', [4]);
  graph.constant('b', [4]);
  return ['s', 'b'];
});

const layerNorm: Build = behindConvs('LayerNormalization', {}, graph => {
  graph.constant('s', [8]);
  graph.constant('b', [8]);
  return ['s', 'b'];
});

const attention: Build = graph => {
  startConvs(graph);
  graph.unit('MatMul', ['c0', 'c1'], ['y']);
  graph.output('y');
};

const fiveDims: Build = graph => {
  graph.input('x', [1, 2, 4, 8, 8]);
  graph.unit('Add', ['x', 'x'], ['y']);
  graph.output('y');
};

const floatTail: Build = graph => {
  startConvs(graph);
  graph.plain('Softmax', ['c1'], ['y']);
  graph.output('y');
};

const sameMaxPool: Build = behindConvs('MaxPool', { attributes: { kernel_shape: ints([2, 2]), auto_pad: string('SAME_UPPER') } });

const XDNA1 = 'jdominick05/ryzen-ai-xdna1-quantization';
const LOGS = 'AMD RyzenAI-SW, logs of CNN-examples/quark_quantization/models (Strix, Ryzen AI 1.6.0, X2)';

/** Observation, graph, choice, Q and DQ domain, findings, operator and its devices. */
const CASES: readonly {
  readonly name: string;
  readonly build: Build;
  readonly choice: TargetChoice;
  readonly domain?: string;
  readonly findings: readonly string[];
  readonly op: string;
  readonly devices: readonly string[];
}[] = [
  {
    name: 'hard-sigmoid-x1',
    build: behindConvs('HardSigmoid', { attributes: { alpha: { kind: 'float', value: 1 / 6 } }, params: { scale: 2 ** -7 } }),
    choice: PHX,
    findings: [`observed warning ${XDNA1}`],
    op: 'HardSigmoid',
    devices: ['npu'],
  },
  {
    name: 'hard-sigmoid-x2',
    build: behindConvs('HardSigmoid', { attributes: { alpha: { kind: 'float', value: Math.fround(1 / 6) } }, params: { scale: 2 ** -7 } }),
    choice: STX,
    findings: ['operator undocumented AMD Ryzen AI, Supported Operators (1.5)', `observed refused ${LOGS}`],
    op: 'HardSigmoid',
    devices: ['cpu'],
  },
  { name: 'depthwise-x1', build: depthwise, choice: PHX, findings: [], op: 'Conv', devices: ['npu', 'npu', 'npu'] },
  {
    name: 'depthwise-x1-lab',
    build: depthwise,
    choice: { ...PHX, version: '1.7' },
    findings: [],
    op: 'Conv',
    devices: ['npu', 'npu', 'npu'],
  },
  {
    name: 'depthwise-xint8-x2',
    build: depthwise,
    choice: STX,
    findings: [`observed warning ${LOGS}`],
    op: 'Conv',
    devices: ['npu', 'npu', 'npu'],
  },
  {
    name: 'depthwise-a8w8-x2',
    build: depthwise,
    choice: { ...STX, dtype: 'a8w8' },
    findings: [`observed warning ${LOGS}`],
    op: 'Conv',
    devices: ['npu', 'npu', 'npu'],
  },
  {
    name: 'slice-x1',
    build: behindConvs('Slice', {}, graph => {
      for (const [name, value] of [
        ['from', 0],
        ['to', 2],
        ['axis', 1],
      ] as const)
        graph.float(name, { dtype: 'int64', dims: [1], bytes: new Uint8Array(BigInt64Array.of(BigInt(value)).buffer) });
      return ['from', 'to', 'axis'];
    }),
    choice: PHX,
    findings: [],
    op: 'Slice',
    devices: ['npu'],
  },
  { name: 'resize-nearest-x1', build: resize('nearest', 2), choice: PHX, findings: [], op: 'Resize', devices: ['npu'] },
  {
    name: 'resize-linear-x1',
    build: resize('linear', 2),
    choice: PHX,
    findings: [`observed warning ${XDNA1}`, 'observed warning AMD RyzenAI-SW issue 318'],
    op: 'Resize',
    devices: ['npu'],
  },
  {
    name: 'resize-smaller-x1',
    build: resize('nearest', 0.5),
    choice: PHX,
    findings: [`observed refused ${XDNA1}`],
    op: 'Resize',
    devices: ['cpu'],
  },
  {
    name: 'resize-linear-issue',
    build: resize('linear', 2),
    choice: STX,
    findings: ['observed warning AMD RyzenAI-SW issue 318'],
    op: 'Resize',
    devices: ['npu'],
  },
  {
    name: 'max-pool-same',
    build: sameMaxPool,
    choice: STX,
    findings: ['observed warning AMD RyzenAI-SW issue 264'],
    op: 'MaxPool',
    devices: ['npu'],
  },
  {
    name: 'instance-norm-x1',
    build: norm,
    choice: PHX,
    findings: [`observed refused ${XDNA1}`],
    op: 'InstanceNormalization',
    devices: ['cpu'],
  },
  {
    name: 'layer-norm-x1',
    build: layerNorm,
    choice: PHX,
    findings: [`observed refused ${XDNA1}`],
    op: 'LayerNormalization',
    devices: ['cpu'],
  },
  {
    name: 'rank-5-x1',
    build: fiveDims,
    choice: PHX,
    findings: ['too-few-conv refused AMD VitisAI execution provider, environment variables and configuration', `observed refused ${XDNA1}`],
    op: 'Add',
    devices: ['cpu'],
  },
  { name: 'attention-x1', build: attention, choice: PHX, findings: [`observed refused ${XDNA1}`], op: 'MatMul', devices: ['cpu'] },
  {
    name: 'domain-x1',
    build: convs(),
    choice: PHX,
    domain: 'com.microsoft',
    findings: [`qdq-domain refused ${XDNA1}`],
    op: 'Conv',
    devices: ['cpu', 'cpu'],
  },
  {
    name: 'domain-x2',
    build: convs(),
    choice: { ...STX, dtype: 'a8w8' },
    domain: 'com.microsoft',
    findings: [],
    op: 'Conv',
    devices: ['npu', 'npu'],
  },
  {
    name: 'per-channel-x1',
    build: convs({ scale: [0.5, 0.25, 0.5, 1] }),
    choice: PHX,
    findings: [`per-channel refused ${XDNA1}`, 'per-channel refused AMD VitisAI execution provider, to_xir_ops'],
    op: 'Conv',
    devices: ['cpu', 'cpu'],
  },
  {
    name: 'activation-scale-x1',
    build: convs({}, { scale: 0.063 }),
    choice: PHX,
    findings: [`scale-power-of-two error ${XDNA1}`],
    op: 'Conv',
    devices: ['npu', 'cpu'],
  },
  {
    name: 'weight-scale-x1',
    build: convs({ scale: 0.063 }),
    choice: PHX,
    findings: [`scale-power-of-two error ${XDNA1}`],
    op: 'Conv',
    devices: ['npu', 'cpu'],
  },
  {
    name: 'product-bias-x1',
    build: biased(2 ** -8, 'int32'),
    choice: PHX,
    findings: [`bias-scale error ${XDNA1}`],
    op: 'Conv',
    devices: ['npu', 'npu', 'cpu'],
  },
  {
    name: 'float-tail-x1',
    build: floatTail,
    choice: PHX,
    findings: [`float-tail refused ${XDNA1}`, 'float-island refused AMD Quark, presets XINT8, A8W8, A16W8'],
    op: 'Conv',
    devices: ['cpu', 'cpu'],
  },
];

describe('an observation', () => {
  it.each(CASES)('$name has its effect where it was observed', async ({ build, choice, domain, findings, op, devices }) => {
    const report = await judge(build, choice, domain);
    expect(findingsOf(report)).toEqual(findings);
    expect(deviceOf(report, op)).toEqual(devices);
  });

  it.each(CASES.filter(({ findings }) => findings.some(line => line.includes(XDNA1))))('$name claims nothing about Strix', async ({
    build,
    domain,
  }) => {
    expect(findingsOf(await judge(build, { ...STX, version: '1.7.1' }, domain)).filter(line => line.includes(XDNA1))).toEqual([]);
  });

  it('of an earlier version is a warning, and moves nothing', async () => {
    const report = await judge(depthwise, { ...STX, version: '1.8' });
    const [finding] = report.units.flatMap(unit => unit.findings);
    expect(finding).toMatchObject({ severity: 'warning', limit: 'seen on stx-krk, software 1.6, xint8, 2025' });
    expect(report.legal).toBe(true);
  });

  it('of a later version has no effect: HardSigmoid stays undocumented', async () => {
    const report = await judge(
      behindConvs('HardSigmoid', { attributes: { alpha: { kind: 'float', value: 1 / 6 } }, params: { scale: 2 ** -7 } }),
      {
        ...PHX,
        version: '1.7',
      },
    );
    expect(findingsOf(report)).toEqual(['operator undocumented AMD Ryzen AI, Supported Operators (1.5)']);
  });

  it('has a device that is named, a version, a data type, a date, and a source that was observed', () => {
    const read = readProfile(getBuiltInProfile('ryzen-ai'));
    if (read.kind !== 'ok') throw new Error('the profile has problems');
    const { observations, sources } = read.value;
    for (const { source, note } of observations) {
      expect(sources[source]).toMatchObject({ kind: 'observed', ref: expect.stringMatching(/^https:/) });
      expect(note.length).toBeGreaterThan(10);
    }
    const names = observations.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    // Those of bf16 have tests in bf16.test.ts.
    const tested = [...CASES.map(({ name }) => name), 'depthwise-a16w8-x2', 'relu-bf16', 'prelu-bf16'];
    expect([...names].sort()).toEqual([...tested].sort());
  });
});

describe('depthwise-a16w8-x2', () => {
  /** The built-in profile without the table's entry for depthwise Conv in A16W8, which says what the observation says; and without observations of `names`. */
  const profileWithout = (names: readonly string[]): Json => {
    const profile = JSON.parse(JSON.stringify(getBuiltInProfile('ryzen-ai')));
    for (const { documented } of profile.operators)
      documented.DepthwiseConv = documented.DepthwiseConv?.filter((dtype: string) => dtype !== 'a16w8') ?? [];
    profile.observations = profile.observations.filter(({ name }: { name: string }) => !names.includes(name));
    return profile;
  };

  it.each([
    ['keeps a depthwise Conv that no table names on the NPU', [], 'npu', [`observed warning ${LOGS}`]],
    ['is what keeps it there', ['depthwise-a16w8-x2'], 'cpu', ['operator undocumented AMD Ryzen AI, Supported Operators (1.5)']],
  ])('%s', async (_, names, device, findings) => {
    const graph = qdqGraph();
    const params = { dtype: 'int16', scale: 0.001 } as const;
    graph.input('x', [1, 4, 8, 8], params);
    graph.constant('w', [4, 4, 1, 1]);
    graph.constant('d', [4, 1, 1, 1]);
    graph.unit('Conv', ['x', 'w'], ['a'], { params });
    graph.unit('Conv', ['a', 'w'], ['b'], { params });
    graph.unit('Conv', ['b', 'd'], ['y'], { params, attributes: { group: { kind: 'int', value: 4n } } });
    graph.output('y');
    const target = chooseTarget(profileWithout(names), { ...STX, dtype: 'a16w8' });
    const { report } = await compileModel('m', graph.build(21), target, { evaluate, undocumented: 'cpu', accept: 'any' });
    expect(findingsOf(report)).toEqual(findings);
    expect(deviceOf(report, 'Conv')).toEqual(['npu', 'npu', device]);
  });
});

describe('wrong values', () => {
  it('are an error of the compile stage, with source and next step', async () => {
    const graph = qdqGraph();
    convs({}, { scale: 0.063 })(graph);
    const target = chooseTarget(getBuiltInProfile('ryzen-ai'), PHX);
    const { code, message } = await failureOf(() =>
      compileModel('m', graph.build(), target, { evaluate, undocumented: 'cpu', accept: 'quantized' }),
    );
    expect(code).toBe('wrong-values');
    expect(message).toContain('scale 0.0630000 of activation "c1" is not a power of two');
  });

  it('are not claimed of an int32 bias with another scale', async () => {
    expect(findingsOf(await judge(biased(2 ** -4, 'int32'), PHX))).toEqual([]);
    expect(findingsOf(await judge(biased(2 ** -8, 'int8'), PHX))).toEqual([]);
  });
});

describe('a Split', () => {
  const split: Build = graph => {
    startConvs(graph);
    graph.unit('Split', ['c1'], ['y', 'z'], { attributes: { axis: { kind: 'int', value: 1n } } });
    graph.output('y', 'z');
  };

  it('is legal in A16W8, which documents it', async () => {
    const graph = qdqGraph();
    const params = { dtype: 'int16', zeroPoint: 0 } as const;
    graph.input('x', [1, 4, 8, 8], params);
    for (const name of ['w0', 'w1']) graph.constant(name, [4, 4, 1, 1]);
    graph.unit('Conv', ['x', 'w0'], ['c0'], { params });
    graph.unit('Conv', ['c0', 'w1'], ['c1'], { params });
    graph.unit('Split', ['c1'], ['y', 'z'], { attributes: { axis: { kind: 'int', value: 1n } }, params });
    graph.output('y', 'z');
    const target = chooseTarget(getBuiltInProfile('ryzen-ai'), { dtype: 'a16w8' });
    const { report } = await compileModel('m', graph.build(21), target, { evaluate, undocumented: 'cpu', accept: 'quantized' });
    expect(findingsOf(report)).toEqual([]);
  });

  it('is undocumented in XINT8, with its form as Slices', async () => {
    const report = await judge(split, STX);
    expect(findingsOf(report)).toEqual(['operator undocumented AMD Ryzen AI, Supported Operators (1.5)']);
    const [finding] = report.units.flatMap(unit => unit.findings);
    expect(finding?.fixIts).toMatchObject([{ rule: 'split-slice', effect: 'exact' }]);
  });
});
