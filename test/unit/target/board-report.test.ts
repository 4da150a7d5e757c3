/** Reports of runs on a board, from a corpus of small files in the vendor's forms, and what may be learned from them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readJsonShape } from '../../../src/base/json/json-shape.js';
import { isJsonObject, type Json, type JsonObject } from '../../../src/base/json.js';
import { readerOf } from '../../../src/base/schema/schema-reader.js';
import {
  BOARD_REPORT_SCHEMA,
  type BoardReport,
  type Explained,
  explainNodes,
  reportBoard,
} from '../../../src/target/board/board-report.js';
import type { Evidence } from '../../../src/target/board/evidence.js';
import { type Learned, learn } from '../../../src/target/board/learn.js';
import { readLog } from '../../../src/target/board/log-lines.js';
import { compareWithPrediction, withReasons } from '../../../src/target/board/merge-reasons.js';
import { type BoardFile, readEvidence } from '../../../src/target/board/read-evidence.js';
import { chooseTarget, getBuiltInProfile } from '../../../src/target/profile/choose-target.js';
import { failureOf } from '../../support/error-code.js';

const CORPUS = 'test/fixtures/board';

function filesOf(run: string): readonly BoardFile[] {
  return readdirSync(join(CORPUS, run))
    .sort()
    .map(name => ({ name, bytes: readFileSync(join(CORPUS, run, name)), origin: 'found' }));
}

const fileOf = (name: string, content: Json | string): BoardFile => ({
  name,
  bytes: Buffer.from(typeof content === 'string' ? content : JSON.stringify(content)),
  origin: 'named',
});

const reportOf = (files: readonly BoardFile[]): BoardReport => {
  const evidence = readEvidence(files);
  return reportBoard(evidence, explainNodes(evidence));
};

const readJsonFile = (run: string, name: string): JsonObject => {
  const json: unknown = JSON.parse(readFileSync(join(CORPUS, run, name), 'utf8'));
  if (!isJsonObject(json as Json)) throw new Error('an object is expected');
  return json as JsonObject;
};

/** The XINT8 run with changes to the nodes of its report. */
function changed(change: (node: Record<string, unknown>) => void, run = 'xint8'): readonly BoardFile[] {
  const report = JSON.parse(readFileSync(join(CORPUS, run, 'vitisai_ep_report.json'), 'utf8'));
  report.nodeStat.forEach(change);
  return [fileOf('vitisai_ep_report.json', report)];
}

describe('the report of an XINT8 run', () => {
  it('has the form that its schema declares, as JSON', () => {
    const report = reportOf(filesOf('xint8'));
    expect(readJsonShape(readerOf(BOARD_REPORT_SCHEMA), JSON.parse(JSON.stringify(report)))).toEqual({ kind: 'ok', value: report });
  });

  it('counts where nodes ran, and names model and compiler target', () => {
    expect(reportOf(filesOf('xint8'))).toMatchObject({
      model: 'neck_int8.onnx',
      targets: ['AMD_AIE2_4x4_Overlay'],
      counts: { npu: 23, cpu: 9, host: 2, other: 0 },
      subgraphs: { CPU: 2, NPU: 3, 'Actually running on NPU': 3 },
    });
  });

  it('gives the reason of the compiler for the operator whose fused output a message names', () => {
    const resize = reportOf(filesOf('xint8')).nodes.find(({ op }) => op === 'Resize');
    expect(resize).toEqual({
      name: '/up/Resize_output_0',
      op: 'Resize',
      place: 'cpu',
      device: 'CPU',
      reasons: [
        {
          kind: 'partitioner',
          text: "doesn't supported by target [AMD_AIE2_4x4_Overlay]",
          subject: '/up/Resize_output_0_QuantizeLinear_Output',
          type: 'qlinear-resize',
          at: 'session.log:3',
        },
      ],
    });
  });

  it('says which nodes no file explains', () => {
    const operators = new Map(reportOf(filesOf('xint8')).operators.map(one => [one.op, one]));
    expect(operators.get('Softmax')).toMatchObject({ counts: { npu: 0, cpu: 1 }, reasons: [], unexplained: 1 });
    expect(operators.get('InstanceNormalization')?.reasons).toEqual([{ text: 'unknown shape found', nodes: 1 }]);
    expect(operators.get('DepthwiseConv')?.counts).toEqual({ npu: 1, cpu: 0, host: 0, other: 0 });
    expect(operators.get('Conv')?.counts.npu).toBe(3);
  });
});

describe('the report of a VAIML run', () => {
  it('joins the list of unsupported operators with the nodes', () => {
    const { nodes, others } = reportOf(filesOf('vaiml'));
    expect(nodes.find(({ op }) => op === 'TopK')?.reasons.map(({ text }) => text)).toEqual([
      'in the list of operators that VAIML does not support',
      'k is not constant',
    ]);
    expect(others.map(({ kind, subject }) => [kind, subject])).toEqual([
      ['unsupported', '/other/NonZero'],
      ['compiler-error', undefined],
      ['compiler-error', undefined],
    ]);
    expect(others[1]?.text).toBe('VAIML-BE-SKGEN 11005: Flexible L1 placement failure in layer 224 : L-224 - Failed to place the buffers');
  });

  it('takes the final summary before the preliminary one, and keeps the plan apart', () => {
    const { summary, plan } = reportOf(filesOf('vaiml'));
    expect(summary).toMatchObject({
      'operators in the model': { count: 4 },
      'operators supported by VAIML': { count: 2, percent: 50 },
      'GOPs supported by VAIML': { count: 0.001, percent: 99.994 },
    });
    expect(plan).toEqual({ AIE: 100, CPU: 0 });
  });
});

describe('messages', () => {
  it.each([
    [
      "xir::Op{name = (output)_replaced_input236, type = dequantize-linear} is partitioned to CPU as :  doesn't supported by target [AMD_AIE2P_4x8_CMC_Overlay].",
      { kind: 'partitioner', subject: 'output', type: 'dequantize-linear' },
    ],
    [
      "xir::Op{name = (/bert/layer.8/mha, type = qlinear-mha} is partitioned to CPU as :  doesn't supported by target [AMD_AIE2P_4x8_CMC_Overlay].",
      { kind: 'partitioner', subject: '/bert/layer.8/mha', type: 'qlinear-mha' },
    ],
    [
      'W] cancel xir conversion, dynamic shape found: @12 [y:(ty=1,shape=[-1,64])] Conv [x]',
      { kind: 'conversion', text: 'dynamic shape found', subject: 'y' },
    ],
    [
      'W] cancel xir conversion , Pad to pad, not supported data type 6',
      { kind: 'conversion', text: 'Pad to pad, not supported data type 6' },
    ],
    [
      'ERROR: [VAIML-COMPILE 1000] vaiml_compile_v4 error: x',
      { kind: 'compiler-error', text: 'VAIML-COMPILE 1000: vaiml_compile_v4 error: x' },
    ],
    ["[DISABLE CPU ONLY] The model's NPU offload is 0", { kind: 'whole-model' }],
  ])('reads %j', (line, expected) => {
    const { reasons } = readLog(`first line\r\n${line}\r\n`, 'a.log');
    expect(reasons).toEqual([expect.objectContaining({ ...expected, at: 'a.log:2' })]);
  });

  it('are not found in a warning of VAIML or in other text', () => {
    expect(
      readLog('WARNING: [VAIML-BE-SKGEN 11007] 224 of layer L-224\nxir::Op{name = (a), type = b} will be removed\n', 'a.log').reasons,
    ).toEqual([]);
  });

  it('are read from UTF-16, as PowerShell writes it', () => {
    const [reason] = reportOf(filesOf('cpu')).others;
    expect(reason).toEqual({ kind: 'whole-model', text: 'This model is not a supported CNN model', at: 'session.log:1' });
  });

  it('of a log with long lines are read in time linear in its size', () => {
    const line = `${'cancel xir conversion, @1 [('.repeat(2000)}xir::Op{name = ${'('.repeat(50_000)}`;
    const started = performance.now();
    readLog(`${line}\n`.repeat(200), 'a.log');
    // 22 MB; quadratic patterns take minutes.
    expect(performance.now() - started).toBeLessThan(5000);
  });
});

describe('files of another form', () => {
  it.each([
    ['cut off', [fileOf('vitisai_ep_report.json', '{"nodeStat": [')], 'board-file-malformed'],
    ['a node without a device', [fileOf('r.json', { nodeStat: [{ output: ['y'], opType: 'Conv' }] })], 'board-file-malformed'],
    ['a list of numbers', [fileOf('aie_unsupported_original_ops.json', [1])], 'board-file-malformed'],
    ['a share above 100 %', [fileOf('fail_safe_summary.json', { offload_map: { AIE: 101 } })], 'board-file-malformed'],
    ['no known member', [fileOf('other.json', { a: 1 })], 'board-file-unknown'],
    ['a text without a message', [fileOf('notes.txt', 'hello')], 'board-file-unknown'],
    ['none', [], 'board-files-missing'],
    ['two runs', [...filesOf('xint8'), ...filesOf('vaiml')], 'board-files-conflict'],
  ])('%s: %#', async (_, files, code) => {
    expect(await failureOf(async () => readEvidence(files))).toMatchObject({ code });
  });

  it('in a folder are ignored if they have another name', () => {
    const other: BoardFile = { ...fileOf('notes.txt', 'hello'), origin: 'found' };
    expect(reportOf([...filesOf('xint8'), other]).counts.npu).toBe(23);
  });

  it('names the fields', async () => {
    const broken = { nodeStat: [{ output: ['y'], opType: 'Conv', device: 3 }] };
    expect(await failureOf(async () => readEvidence([fileOf('r.json', broken)]))).toMatchObject({
      message: 'r.json has another form than expected: nodeStat[0].device: should be text, it is 3',
    });
  });
});

const REQUEST = { choice: { dtype: 'xint8', version: '1.7.1' }, date: '2026-02-05', digest: 'ab'.repeat(32) };

function learnFrom(files: readonly BoardFile[], request: Partial<Parameters<typeof learn>[2]> = {}): Learned {
  const evidence: Evidence = readEvidence(files);
  const explained: Explained = explainNodes(evidence);
  return learn(evidence, explained, { profile: getBuiltInProfile('ryzen-ai'), ...REQUEST, ...request });
}

const outcomesOf = ({ observations }: Learned): Readonly<Record<string, string>> =>
  Object.fromEntries(observations.map(({ subject, outcome }) => [subject.kind === 'form' ? subject.form : subject.ops.join(), outcome]));

describe('learning', () => {
  it('takes what the run proves, for the device that the compiler names', () => {
    const learned = learnFrom(filesOf('xint8'));
    expect(outcomesOf(learned)).toEqual({
      Conv: 'npu',
      DepthwiseConv: 'npu',
      HardSigmoid: 'npu',
      Mul: 'npu',
      Relu: 'npu',
      Resize: 'cpu',
    });
    expect(learned.observations.find(({ outcome }) => outcome === 'cpu')).toEqual({
      name: 'own-resize-phx-hpt-xint8-1-7-1',
      subject: { kind: 'operator', ops: ['Resize'] },
      outcome: 'cpu',
      devices: ['phx-hpt'],
      versions: ['1.7.1'],
      dtypes: ['xint8'],
      date: '2026-02-05',
      source: 'own-board-abababababab',
      note: "neck_int8.onnx: 0 of 1 on the NPU: doesn't supported by target [AMD_AIE2_4x4_Overlay].",
    });
  });

  it('blames no operator for the shape of a node, or for its neighbors', () => {
    expect(learnFrom(filesOf('xint8')).unproved).toEqual([
      { op: 'InstanceNormalization', why: expect.stringContaining('shapes, attributes or parameters') },
      { op: 'Softmax', why: expect.stringContaining('its neighbors are on the CPU too') },
    ]);
  });

  it('blames a quantized node that is alone on the CPU between nodes on the NPU, without any message', () => {
    const files = changed(() => undefined);
    const request = { choice: { ...REQUEST.choice, device: 'phx-hpt' } };
    expect(outcomesOf(learnFrom(files, request)).Resize).toBe('cpu');
    const island = changed(node => {
      if (node.opType === 'Conv' && JSON.stringify(node.output).includes('head')) node.device = 'CPU';
    });
    expect(outcomesOf(learnFrom(island, request))).toMatchObject({ Conv: 'mixed' });
    expect(outcomesOf(learnFrom(island, request)).Resize).toBeUndefined();
  });

  it('gives a profile that is valid, and that a second run extends', () => {
    const first = learnFrom(filesOf('xint8'));
    const target = chooseTarget(first.profile, { device: 'phx-hpt', dtype: 'xint8', version: '1.7.1' });
    expect(target.observations.filter(({ name }) => name.startsWith('own-'))).toHaveLength(6);
    expect(learnFrom(filesOf('xint8'), { profile: first.profile }).profile).toEqual(first.profile);

    const onNpu = changed(node => {
      if (node.opType === 'Resize') node.device = 'NPU';
    });
    const second = learnFrom(onNpu, { profile: first.profile, choice: { ...REQUEST.choice, device: 'phx-hpt' }, digest: 'cd'.repeat(32) });
    expect(outcomesOf(second).Resize).toBe('mixed');
    expect(second.observations.find(({ outcome }) => outcome === 'mixed')?.note).toMatch(/0 of 1 on the NPU.*1 of 1 on the NPU/);
  });

  it('says which observations of the profile differ', () => {
    expect(learnFrom(filesOf('xint8')).contradicted).toContainEqual({ op: 'Resize', outcome: 'cpu', by: 'resize-nearest-x1', was: 'npu' });
  });

  it('learns that Q and DQ of com.microsoft ran on the NPU', () => {
    const foreign = changed(node => {
      if (String(node.opType).endsWith('QuantizeLinear') || node.opType === 'DequantizeLinear') node.opDomain = 'com.microsoft';
    });
    const request = { choice: { device: 'stx-krk', dtype: 'a8w8', version: '1.7' } };
    expect(outcomesOf(learnFrom(foreign, request))).toMatchObject({ 'com.microsoft': 'npu' });
  });

  it.each([
    ['a model that is off the NPU as a whole', filesOf('cpu'), {}, 'board-unproved', 'no node ran on the NPU'],
    ['a model without Q and DQ', filesOf('vaiml'), {}, 'board-unproved', 'no Q and DQ'],
    ['another device', filesOf('xint8'), { device: 'stx-krk' }, 'board-device', 'compiled for AMD_AIE2_4x4_Overlay, which is not stx-krk'],
    ['an unknown data type', filesOf('xint8'), { dtype: 'int3' }, 'unknown-dtype', 'unknown data type "int3"'],
    ['messages alone', filesOf('xint8').filter(({ name }) => name === 'session.log'), {}, 'board-unproved', 'no file says where nodes ran'],
  ])('refuses %s', async (_, files, choice, code, message) => {
    const failure = await failureOf(async () => learnFrom(files, { choice: { ...REQUEST.choice, ...choice } }));
    expect(failure).toMatchObject({ code, message: expect.stringContaining(message) });
  });

  it('refuses a report whose subgraphs do not all run', async () => {
    const report = readJsonFile('xint8', 'vitisai_ep_report.json');
    const few = {
      ...report,
      subgraphStat: [
        { device: 'NPU', count: 63 },
        { device: 'Actually running on NPU', count: 5 },
      ],
    };
    const failure = await failureOf(async () => learnFrom([fileOf('r.json', few)], { choice: { ...REQUEST.choice, device: 'phx-hpt' } }));
    expect(failure).toMatchObject({ code: 'board-unproved', message: 'only 5 of 63 subgraphs for the NPU really run there' });
  });
});

describe('the comparison with a prediction', () => {
  const explained = explainNodes(readEvidence(filesOf('xint8')));

  it('has our reasons and those of the board', () => {
    const predicted = readJsonFile('xint8', 'vitisai_ep_report.json');
    const nodes = JSON.parse(JSON.stringify(predicted.nodeStat)) as { opType: string; device: string; output: string[] }[];
    for (const node of nodes) {
      if (node.opType === 'Resize') node.device = 'NPU';
      if (node.opType === 'HardSigmoid') node.device = 'CPU';
    }
    const reasons = [{ nodes: ['/stem/act/HardSigmoid_output_0'], findings: [{ message: 'HardSigmoid is not documented' }] }];
    const comparison = compareWithPrediction({ ...predicted, nodeStat: nodes, 'x-reasons': reasons }, 'p.json', explained);
    expect(comparison.differences).toEqual([
      {
        name: '/stem/act/HardSigmoid_output_0',
        opType: 'HardSigmoid',
        predicted: 'cpu',
        ran: 'npu',
        expected: ['HardSigmoid is not documented'],
        observed: [],
      },
      {
        name: '/up/Resize_output_0',
        opType: 'Resize',
        predicted: 'npu',
        ran: 'cpu',
        expected: [],
        observed: ["doesn't supported by target [AMD_AIE2_4x4_Overlay]"],
      },
    ]);
    expect(comparison).toMatchObject({ both: 34, onlyPredicted: 0, onlyReal: 0 });
  });

  it('can be made on the board: the vendor’s report gets the reasons', () => {
    const merged = withReasons(readJsonFile('xint8', 'vitisai_ep_report.json'), explained);
    expect(merged['x-reasons']).toContainEqual({
      nodes: ['/up/Resize_output_0'],
      name: '/up/Resize_output_0',
      opType: 'Resize',
      device: 'cpu',
      findings: [{ rule: 'board-partitioner', message: "doesn't supported by target [AMD_AIE2_4x4_Overlay]", at: 'session.log:3' }],
    });
  });
});
