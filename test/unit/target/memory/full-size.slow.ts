/** The memory plan of a full-size backbone in int8, beside figures that were computed independently. */
import { exportFullSize } from '../../../../bench/full-size-backbone.js';
import { getValue } from '../../../../src/onnx/ir/edit.js';
import { PRESETS } from '../../../../src/quant/scheme/scheme.js';
import { evaluate } from '../../../../src/runtime/session/evaluate.js';
import { compileModel } from '../../../../src/target/compile-model.js';
import { alignBytes } from '../../../../src/target/memory/arena.js';
import { chooseTarget, getBuiltInProfile } from '../../../../src/target/profile/choose-target.js';
import { generatedInput } from '../../../support/generated-weights.js';
import { quantizeOn } from '../../../support/quantize-small.js';

describe('the backbone of maskrcnn_resnet50_fpn_v2 at 800×1088 in int8', () => {
  it('needs 46.41 MB, its lower bound, of the 406.43 MB of all activations', async () => {
    const [height, width] = [800, 1088];
    const { backbone } = await exportFullSize({ height, width });
    const names = backbone.graph.inputs.map(id => getValue(backbone.graph, id).name);
    const feeds = Object.fromEntries(names.map(name => [name, generatedInput(name, [1, 3, height, width], 2)]));
    const model = await quantizeOn(backbone, feeds, PRESETS.u8s8);
    const target = chooseTarget(getBuiltInProfile('generic-int8'), {});
    const { report } = await compileModel('backbone', model, target, { evaluate, undocumented: 'npu', accept: 'quantized' });
    const [memory] = report.parts.flatMap(part => part.memory ?? []);
    // An independent plan of this network, with tensors aligned to 64 bytes, has 406.4 MB without reuse, and a bound of 46.677 MB.
    expect((memory?.sumBytes ?? 0) / 1e6).toBeCloseTo(406.4, 1);
    expect(memory).toMatchObject({ peakBytes: 46_405_376, boundBytes: 46_405_376, gapBytes: 0 });
    // That plan runs the finest level of the RPN last, so that the RPN's outputs of the four other levels are live too.
    const cells = [
      [100, 136],
      [50, 68],
      [25, 34],
      [13, 17],
    ];
    const outputs = cells.flatMap(([h = 0, w = 0]) => [3 * h * w, 12 * h * w]).reduce((sum, bytes) => sum + alignBytes(bytes), 0);
    expect(((memory?.boundBytes ?? 0) + outputs) / 1e6).toBeCloseTo(46.677, 3);
  }, 60_000);
});
