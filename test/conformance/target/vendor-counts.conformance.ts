/**
 * Node counts of larger networks against the logs of AMD's tools in RyzenAI-SW, CNN-examples/quark_quantization/models; test/unit/target/vendor-counts.test.ts
 * has those of the networks that tests build.
 */
import { getValue } from '../../../src/onnx/ir/edit.js';
import type { Model } from '../../../src/onnx/ir/model.js';
import { sortTopologically } from '../../../src/onnx/ir/sort.js';
import { simplifyToFixedPoint } from '../../../src/onnx/passes/simplify.js';
import { rewriteModel } from '../../../src/onnx/rewrite/rewrite-model.js';
import { getRule } from '../../../src/onnx/rules/target/get-rule.js';
import { inferShapes, writeTypes } from '../../../src/onnx/shape-inference/infer-shapes.js';
import { PRESETS } from '../../../src/quant/scheme/scheme.js';
import { evaluate } from '../../../src/runtime/session/evaluate.js';
import { compileModel } from '../../../src/target/compile-model.js';
import { chooseTarget, getBuiltInProfile } from '../../../src/target/profile/choose-target.js';
import type { ModelReport } from '../../../src/target/report/compile-report.js';
import { quantizeOn } from '../../support/quantize-small.js';
import { randomFloats } from '../../support/small-model.js';
import { readWildModel } from '../../support/wild-models.js';

type RuleForm = readonly [rule: string, form?: string];

interface AsByAmd {
  /** Rewrites of the float model, at the input size of AMD's examples. */
  readonly before: readonly RuleForm[];
  /** Rewrites of the quantized model. */
  readonly after?: readonly RuleForm[];
}

function rewrite(model: Model, rules: readonly RuleForm[]): void {
  sortTopologically(model.graph);
  const given = rules.map(([rule, form]) => ({ rule: getRule(rule, form), matches: 'any' }) as const);
  rewriteModel(model, { rules: given, edits: [], check: () => [] });
}

/** Averages over feature maps depend on the size of the image. */
function enlarge(model: Model): void {
  const [input] = model.graph.inputs;
  for (const value of model.graph.values.values()) {
    if (value.id === input && value.type?.kind === 'tensor') value.type = { ...value.type, dims: [1, 3, 224, 224] };
    else if (value.constant === undefined) value.type = undefined;
  }
  sortTopologically(model.graph);
  writeTypes(model, inferShapes(model));
}

async function report(name: string, dtype: 'xint8' | 'a8w8', asByAmd?: AsByAmd, version?: string): Promise<ModelReport> {
  const model = readWildModel(name);
  if (asByAmd !== undefined) enlarge(model);
  await simplifyToFixedPoint(model, { evaluate, foldLimitBytes: 1 << 20, check: () => [] });
  if (asByAmd !== undefined) rewrite(model, asByAmd.before);
  const [input] = model.graph.inputs.map(id => getValue(model.graph, id));
  const dims = input?.type?.kind === 'tensor' ? (input.type.dims ?? []).map(dim => (typeof dim === 'number' ? dim : 1)) : [];
  const quantized = await quantizeOn(model, { [input?.name ?? '']: randomFloats(dims, 5) }, PRESETS[dtype]);
  if (asByAmd?.after !== undefined) rewrite(quantized, asByAmd.after);
  const target = chooseTarget(getBuiltInProfile('ryzen-ai'), { dtype, ...(version === undefined ? {} : { version }) });
  return (await compileModel(name, quantized, target, { evaluate, undocumented: 'cpu', accept: 'quantized' })).report;
}

describe('node counts', () => {
  it('of shufflenet_v2_x1_0 in XINT8 have the sum of AMD’s 467 + 50 + 100, with the factor that AMD’s quantizer adds after the average', async () => {
    const { counts, units } = await report('tv_shufflenet_v2_x1_0.ts', 'xint8');
    expect(counts.nodes + 1).toBe(467 + 50 + 100);
    // AMD's log has 18 subgraphs; the depthwise Conv that split other networks there have warnings.
    expect(units.filter(unit => unit.findings.some(({ rule }) => rule === 'observed'))).toHaveLength(19);
  });

  // AMD's quantizer divides averages over more than 512 positions in two, replaces HardSwish, Sigmoid and BatchNormalization, and in XINT8 adds a factor to each
  // average and HardSigmoid.
  const FACTORS = [
    ['dpu-factors', 'average-pool'],
    ['dpu-factors', 'hard-sigmoid'],
  ] as const;

  it.each([
    ['efficientnet_b0', [['large-pool'], ['sigmoid-hard']], 970],
    ['mobilenet_v3_small', [['large-pool'], ['hard-swish', 'decompose']], 540],
  ] as const)('of %s in A8W8 equal those of AMD, with the rewrites of its quantizer', async (name, before, npu) => {
    const { npuNodes, cpuNodes, edgeNodes, npuParts } = (await report(`tv_${name}.ts`, 'a8w8', { before })).counts;
    expect({ npuNodes, cpuNodes, edgeNodes, npuParts }).toEqual({ npuNodes: npu, cpuNodes: 0, edgeNodes: 2, npuParts: 1 });
  });

  it('of efficientnet_b0 in XINT8 on Strix, 1.6, equal AMD’s in every figure', async () => {
    const before = [['large-pool'], ['sigmoid-hard']] as const;
    const { counts, units } = await report('tv_efficientnet_b0.ts', 'xint8', { before, after: FACTORS }, '1.6');
    const { npuNodes, cpuNodes, edgeNodes, npuParts } = counts;
    expect({ npuNodes, cpuNodes, edgeNodes, npuParts }).toEqual({ npuNodes: 792, cpuNodes: 130, edgeNodes: 132, npuParts: 66 });
    expect(new Set(units.filter(({ device }) => device === 'cpu').map(({ opType }) => opType))).toEqual(new Set(['HardSigmoid', 'Mul']));
  });

  it('of mobilenet_v3_small there equal AMD’s up to its 3 depthwise Conv with Relu, each of 6 nodes', async () => {
    const before = [['large-pool'], ['hard-swish', 'decompose']] as const;
    const { counts, units } = await report('tv_mobilenet_v3_small.ts', 'xint8', { before, after: FACTORS }, '1.6');
    const rectified = units.filter(({ activation, findings }) => activation === 'Relu' && findings.some(({ rule }) => rule === 'observed'));
    expect(rectified.map(({ nodes }) => nodes.length)).toEqual([6, 6, 6]);
    // DQ of input, weight and bias, and Q, go to VITIS_EP_CPU; Conv and Relu to the CPU; each separates two parts.
    const { npuNodes, cpuNodes, edgeNodes, npuParts } = counts;
    expect([npuNodes - 3 * 6, cpuNodes + 3 * 2, edgeNodes + 3 * 4, npuParts + 3]).toEqual([448, 62, 70, 32]);
  });

  it('of densenet121 in XINT8 have the sum of AMD’s, with the rewrites and factors of its quantizer', async () => {
    const { counts } = await report('tv_densenet121.ts', 'xint8', { before: [['batch-norm-conv']], after: FACTORS });
    expect(counts.nodes).toBe(42 + 356 + 1307);
  });
});
