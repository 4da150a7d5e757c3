/**
 * Node counts against the logs of AMD's tools in RyzenAI-SW, CNN-examples/quark_quantization/models: nodes on the NPU, on the CPU, and in VITIS_EP_CPU
 * (the quantizers at the ends), and subgraphs.
 */
import { addNode, addValue, getValue, setInput } from '../../../src/onnx/ir/edit.js';
import type { Model } from '../../../src/onnx/ir/model.js';
import { DEFAULT_OP_TYPES, PRESETS } from '../../../src/quant/scheme/scheme.js';
import { evaluate } from '../../../src/runtime/session/evaluate.js';
import { compileModel } from '../../../src/target/compile-model.js';
import { chooseTarget, getBuiltInProfile } from '../../../src/target/profile/choose-target.js';
import type { ModelReport } from '../../../src/target/report/compile-report.js';
import { quantizeOn } from '../../support/quantize-small.js';
import { randomFloats } from '../../support/small-model.js';
import { makeMobileNetV2, makeResNet, makeSqueezeNet, NET_DIMS } from '../../support/torchvision-nets.js';

const FEEDS = { x: randomFloats([...NET_DIMS], 5) };

/** As AMD's quantizer does for XINT8: multiplies the average by the correction of the NPU's division before it is quantized. */
function rescaleAverage(model: Model): Model {
  const { graph } = model;
  for (const node of [...graph.nodes.values()]) {
    const [output] = node.outputs;
    if (node.opType !== 'GlobalAveragePool' || output === undefined) continue;
    const quantizer = [...graph.nodes.values()].find(other => other.inputs[0] === output);
    if (quantizer === undefined) throw new Error('nothing quantizes the average');
    const factor = addValue(model, graph, 'factor', {
      constant: { dtype: 'float32', dims: [], bytes: new Uint8Array(Float32Array.of(1.0048828125).buffer) },
    });
    const scaled = addValue(model, graph, `${getValue(graph, output).name}_rescaled`, { type: getValue(graph, output).type });
    addNode(model, graph, { opType: 'Mul', name: 'rescale', inputs: [output, factor.id], outputs: [scaled.id], before: quantizer.id });
    setInput(quantizer, 0, scaled.id);
  }
  return model;
}

async function report(model: Model, dtype: 'xint8' | 'a16w8', float: readonly string[] = []): Promise<ModelReport> {
  const scheme = { ...PRESETS[dtype], opTypes: DEFAULT_OP_TYPES.filter(op => !float.includes(op)) };
  const quantized = await quantizeOn(model, FEEDS, scheme);
  const target = chooseTarget(getBuiltInProfile('ryzen-ai'), { dtype });
  const options = { evaluate, undocumented: 'cpu', accept: 'quantized' } as const;
  return (await compileModel('m', dtype === 'xint8' ? rescaleAverage(quantized) : quantized, target, options)).report;
}

const counts = ({ counts: { npuNodes, cpuNodes, edgeNodes, npuParts } }: ModelReport) => ({ npuNodes, cpuNodes, edgeNodes, npuParts });

describe('node counts', () => {
  it.each([
    ['resnet18', () => makeResNet([2, 2, 2, 2], 'basic'), 164],
    ['resnet34', () => makeResNet([3, 4, 6, 3], 'basic'), 292],
    ['resnet50', () => makeResNet([3, 4, 6, 3], 'bottleneck'), 393],
  ] as const)('of %s in XINT8 are those of AMD: %#', async (_name, make, npuNodes) => {
    expect(counts(await report(make(), 'xint8'))).toEqual({ npuNodes, cpuNodes: 0, edgeNodes: 2, npuParts: 1 });
  });

  it('of squeezenet1_0 in XINT8 equal AMD’s: the Flatten at its end stays on the CPU', async () => {
    const squeezed = await report(makeSqueezeNet(), 'xint8', ['Flatten']);
    expect(counts(squeezed)).toEqual({ npuNodes: 201, cpuNodes: 1, edgeNodes: 2, npuParts: 1 });
  });

  it('of mobilenet_v2 in A16W8 equal AMD’s', async () => {
    expect(counts(await report(makeMobileNetV2(), 'a16w8'))).toEqual({ npuNodes: 346, cpuNodes: 0, edgeNodes: 2, npuParts: 1 });
  });

  it('of mobilenet_v2 in XINT8 have the sum of AMD’s 239 + 36 + 74; the depthwise Conv that split it there have warnings', async () => {
    const mobile = await report(makeMobileNetV2(), 'xint8');
    expect(mobile.counts.nodes).toBe(239 + 36 + 74);
    const warned = mobile.units.filter(unit => unit.findings.some(finding => finding.rule === 'observed'));
    // AMD's log has 18 subgraphs, separated by the 17 depthwise Conv.
    expect(warned).toHaveLength(17);
  });
});
