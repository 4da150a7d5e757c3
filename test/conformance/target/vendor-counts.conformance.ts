/**
 * Node counts of larger networks against the logs of AMD's tools in RyzenAI-SW, CNN-examples/quark_quantization/models; test/unit/target/vendor-counts.test.ts
 * has those of the networks that tests build.
 */
import { getValue } from '../../../src/onnx/ir/edit.js';
import { simplifyToFixedPoint } from '../../../src/onnx/passes/simplify.js';
import { PRESETS } from '../../../src/quant/scheme/scheme.js';
import { evaluate } from '../../../src/runtime/session/evaluate.js';
import { compileModel } from '../../../src/target/compile-model.js';
import { chooseTarget, getBuiltInProfile } from '../../../src/target/profile/choose-target.js';
import type { ModelReport } from '../../../src/target/report/compile-report.js';
import { quantizeOn } from '../../support/quantize-small.js';
import { findSharedFolder } from '../../support/shared-folder.js';
import { randomFloats } from '../../support/small-model.js';
import { readWildModel } from '../../support/wild-models.js';

const shared = findSharedFolder();
const suite = shared === undefined ? describe.skip : describe;

async function report(name: string, dtype: 'xint8' | 'a8w8'): Promise<ModelReport> {
  const model = readWildModel(shared ?? '', name);
  await simplifyToFixedPoint(model, { evaluate, foldLimitBytes: 1 << 20, check: () => [] });
  const [input] = model.graph.inputs.map(id => getValue(model.graph, id));
  const dims = input?.type?.kind === 'tensor' ? (input.type.dims ?? []).map(dim => (typeof dim === 'number' ? dim : 1)) : [];
  const quantized = await quantizeOn(model, { [input?.name ?? '']: randomFloats(dims, 5) }, PRESETS[dtype]);
  const target = chooseTarget(getBuiltInProfile('ryzen-ai'), { dtype });
  return (await compileModel(name, quantized, target, { evaluate, undocumented: 'cpu', accept: 'quantized' })).report;
}

suite('node counts', () => {
  it('of shufflenet_v2_x1_0 in XINT8 have the sum of AMD’s 467 + 50 + 100, with the factor that AMD’s quantizer adds after the average', async () => {
    const { counts, units } = await report('tv_shufflenet_v2_x1_0.ts', 'xint8');
    expect(counts.nodes + 1).toBe(467 + 50 + 100);
    // AMD's log has 18 subgraphs; the depthwise Conv that split other networks there have warnings.
    expect(units.filter(unit => unit.findings.some(({ rule }) => rule === 'observed'))).toHaveLength(19);
  });

  it('of efficientnet_b0 in A8W8 are all for the NPU in one part, as AMD’s, but 15 fewer', async () => {
    const { npuNodes, cpuNodes, edgeNodes, npuParts } = (await report('tv_efficientnet_b0.ts', 'a8w8')).counts;
    expect({ npuNodes, cpuNodes, edgeNodes, npuParts }).toEqual({ npuNodes: 970 - 15, cpuNodes: 0, edgeNodes: 2, npuParts: 1 });
  });

  it('of densenet121 in XINT8 are not those of AMD, whose file has 1,705 nodes', async () => {
    const { counts } = await report('tv_densenet121.ts', 'xint8');
    expect([counts.nodes, counts.cpuNodes]).toEqual([1828, 0]);
  });
});
