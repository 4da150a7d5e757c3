/** The advice of `lint` for YOLOX-nano in XINT8 on both devices: with the suggested rewrites, nearly all of it is for the NPU. */
import { join } from 'node:path';
import { sortTopologically } from '../../../src/onnx/ir/sort.js';
import { convertOpset } from '../../../src/onnx/opset/convert-opset.js';
import { simplifyToFixedPoint } from '../../../src/onnx/passes/simplify.js';
import { readModel } from '../../../src/onnx/serde/model-file.js';
import { PRESETS } from '../../../src/quant/scheme/scheme.js';
import { evaluate } from '../../../src/runtime/session/evaluate.js';
import { adviseModel } from '../../../src/target/advice/advise.js';
import { compileModel } from '../../../src/target/compile-model.js';
import { chooseTarget, getBuiltInProfile } from '../../../src/target/profile/choose-target.js';
import { readNpz } from '../../../src/tensor/formats/npz.js';
import { makeTensor } from '../../../src/tensor/tensor.js';
import { quantizeOn } from '../../support/quantize-small.js';
import { findSharedFolder } from '../../support/shared-folder.js';

const shared = findSharedFolder();
const suite = shared === undefined ? describe.skip : describe;

/** HardSigmoid was seen on the NPU of Phoenix alone; on Strix the rewrite needs HardSwish, and with it operator set 17. */
suite.each([
  ['phx-hpt', undefined],
  ['stx-krk', 17],
] as const)('YOLOX-nano in XINT8 on %s', (device, opset) => {
  it('has over 99 % of its multiply-accumulates on the NPU in at most 3 parts, after the suggested rewrites', async () => {
    const folder = join(shared ?? '', 'models/yolox-nano');
    const model = await readModel(join(folder, 'yolox_nano.onnx'));
    sortTopologically(model.graph);
    if ((model.opsets.get('') ?? 0) < 13) convertOpset(model, 13);
    await simplifyToFixedPoint(model, { evaluate, foldLimitBytes: 1 << 20, check: () => [] });
    const json = getBuiltInProfile('ryzen-ai');
    const target = chooseTarget(json, { device, dtype: 'xint8' });
    const { advice, model: rewritten } = await adviseModel(model, json, target, { evaluate, undocumented: 'cpu' });
    expect(advice.opset).toBe(opset);
    const [first] = advice.rewrites;
    expect(first?.before.parts).toBeGreaterThan(30);
    expect(advice.rewrites.map(({ rule }) => rule)).toContain('silu-hard-swish');
    for (const { before, after } of advice.rewrites) expect(after.cpuUnits).toBeLessThan(before.cpuUnits);

    const archive = await readNpz(join(folder, 'sample.npz'));
    const [name = ''] = archive.names.filter(one => one.startsWith('input:'));
    const image = archive.get(name);
    const tensor = image.dtype === 'uint8' ? makeTensor('float32', image.dims, Float32Array.from(image.data)) : image;
    const quantized = await quantizeOn(rewritten, { [name.slice('input:'.length)]: tensor }, PRESETS.xint8);
    const { report } = await compileModel('yolox', quantized, target, { evaluate, undocumented: 'cpu', accept: 'quantized' });
    expect(report.counts.npuMacShare).toBeGreaterThan(0.99);
    expect(report.counts.parts).toBeLessThanOrEqual(3);
  });
});
