/**
 * Invariants of partitions on real networks, and equality of the parts with the whole, bit for bit: trained public models, quantized on their stored sample,
 * for two targets.
 */
import { join } from 'node:path';
import { getValue } from '../../../src/onnx/ir/edit.js';
import type { Model } from '../../../src/onnx/ir/model.js';
import { sortTopologically } from '../../../src/onnx/ir/sort.js';
import { convertOpset } from '../../../src/onnx/opset/convert-opset.js';
import { simplifyToFixedPoint } from '../../../src/onnx/passes/simplify.js';
import { readModel } from '../../../src/onnx/serde/model-file.js';
import { PRESETS } from '../../../src/quant/scheme/scheme.js';
import { evaluate } from '../../../src/runtime/session/evaluate.js';
import { compileModel } from '../../../src/target/compile-model.js';
import { chooseTarget, getBuiltInProfile } from '../../../src/target/profile/choose-target.js';
import { pinSizes } from '../../../src/target/units/pin-sizes.js';
import { readNpz } from '../../../src/tensor/formats/npz.js';
import { makeTensor, type Tensor } from '../../../src/tensor/tensor.js';
import { generatedInput } from '../../support/generated-weights.js';
import { quantizeOn } from '../../support/quantize-small.js';
import { differingOutputs, findReportProblems, runParts, runWhole } from '../../support/run-parts.js';
import { findSharedFolder } from '../../support/shared-folder.js';

const shared = findSharedFolder();
const suite = shared === undefined ? describe.skip : describe;

type Feeds = Readonly<Record<string, Tensor>>;

interface Given {
  readonly model: Model;
  readonly feeds: Feeds;
}

/** Every named size takes its value from the feeds. */
function pin(model: Model, feeds: Feeds): Model {
  const pins: Record<string, number> = {};
  for (const id of model.graph.inputs) {
    const { name, type } = getValue(model.graph, id);
    if (type?.kind !== 'tensor') continue;
    for (const [axis, dim] of (type.dims ?? []).entries()) if (typeof dim === 'string') pins[dim] = feeds[name]?.dims[axis] ?? 1;
  }
  return pinSizes(model, pins);
}

/** Simplified, and converted to operator set 13 or newer. */
async function prepare(path: string, feeds: Feeds): Promise<Given> {
  const read = await readModel(join(shared ?? '', path));
  sortTopologically(read.graph);
  const model = pin(read, feeds);
  if ((model.opsets.get('') ?? 0) < 13) convertOpset(model, 13);
  await simplifyToFixedPoint(model, { evaluate, foldLimitBytes: 1 << 20, check: () => [] });
  return { model, feeds };
}

async function readSample(folder: string): Promise<Feeds> {
  const archive = await readNpz(join(shared ?? '', 'models', folder, 'sample.npz'));
  const inputs = archive.names.filter(name => name.startsWith('input:'));
  return Object.fromEntries(inputs.map(name => [name.slice('input:'.length), toFloat(archive.get(name))]));
}

/** Images are stored as bytes. */
function toFloat(tensor: Tensor): Tensor {
  return tensor.dtype === 'uint8' ? makeTensor('float32', tensor.dims, Float32Array.from(tensor.data)) : tensor;
}

const fromSample = (path: string) => async (): Promise<Given> => prepare(`models/${path}`, await readSample(path.split('/')[0] ?? ''));

const MODELS: readonly (readonly [string, () => Promise<Given>])[] = [
  ['ultraface', fromSample('ultraface/version-RFB-320_without_postprocessing.onnx')],
  ['picodet', fromSample('picodet/picodet_s_320_coco_sim.onnx')],
  ['yolox-nano', fromSample('yolox-nano/yolox_nano.onnx')],
  ['fastestdet', fromSample('fastestdet/FastestDet.onnx')],
  ['mobilenetv2', fromSample('mobilenetv2/mobilenetv2_fp32.onnx')],
  ['cifar-resnet20', fromSample('cifar-resnet20/cifar_resnet20.onnx')],
  [
    'yolact-shapes',
    async () => {
      const path = 'shapes/yolact/yolact-shapes-cut.onnx';
      const model = await readModel(join(shared ?? '', path));
      const [input] = model.graph.inputs.map(id => getValue(model.graph, id));
      const dims = input?.type?.kind === 'tensor' ? (input.type.dims ?? []).map(dim => (typeof dim === 'number' ? dim : 1)) : [];
      return prepare(path, { [input?.name ?? '']: generatedInput('image', dims, 2) });
    },
  ],
];

const TARGETS = [
  ['ryzen-ai', 'xint8', 'xint8'],
  ['ryzen-ai', 'a8w8', 'a8w8'],
  ['generic-int8', 'int8', 'u8s8'],
] as const;

suite.each(MODELS)('%s', (name, give) => {
  const given = give();
  it.each(TARGETS)('on %s in %s: each unit once, convex parts, and the bits of the whole model', async (profile, dtype, preset) => {
    const { model, feeds } = await given;
    const quantized = await quantizeOn(model, feeds, PRESETS[preset]);
    const target = chooseTarget(getBuiltInProfile(profile), { dtype });
    const compiled = await compileModel(name, quantized, target, { evaluate, undocumented: 'cpu', accept: 'quantized' });
    expect(findReportProblems(compiled)).toEqual([]);
    const whole = await runWhole(quantized, feeds, 'basic');
    expect(differingOutputs(whole, await runParts(compiled.parts, feeds, 'basic'))).toEqual([]);
    expect(compiled.report.counts.npuParts).toBeGreaterThan(0);
  });
});

suite('models that are quantized already', () => {
  it.each([
    ['MobileNetV2 as published', 'models/mobilenetv2/qdq_reference/model.onnx', 'mobilenetv2'],
    ['MaskRCNN2Go with its original scales', 'models/maskrcnn2go/maskrcnn2go_qdq_orig_scales.onnx', 'maskrcnn2go'],
  ])('%s: known facts are judged, and parts equal the whole', async (_name, path, folder) => {
    const read = await readModel(join(shared ?? '', path));
    const feeds = await readSample(folder);
    const model = pin(read, feeds);
    const target = chooseTarget(getBuiltInProfile('generic-int8'), {});
    const compiled = await compileModel('m', model, target, { evaluate, undocumented: 'cpu', accept: 'any' });
    expect(findReportProblems(compiled)).toEqual([]);
    expect(compiled.report.counts.npuParts).toBeGreaterThan(0);
    const whole = await runWhole(model, feeds, 'basic');
    expect(differingOutputs(whole, await runParts(compiled.parts, feeds, 'basic'))).toEqual([]);
  });
});
