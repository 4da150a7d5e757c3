/**
 * Measures `simplify` on a full-size backbone: the passes compared with one inference of the model.
 * The stage's numeric check needs two inferences per sample.
 */
import { cloneModel } from '../src/onnx/ir/clone.js';
import { simplifyToFixedPoint } from '../src/onnx/passes/simplify.js';
import { encodeModel } from '../src/onnx/serde/encode-model.js';
import { evaluate } from '../src/runtime/session/evaluate.js';
import { openSession } from '../src/runtime/session/session.js';
import { exportUnsimplified, FULL_SIZE, makeFullSizeInput } from './full-size-backbone.js';
import { formatRatio, formatSamples, printTable } from './table.js';
import { interleave } from './timing.js';

const ROUNDS = 5;

export async function measureSimplify(): Promise<void> {
  const { backbone: original } = exportUnsimplified();
  const session = await openSession(encodeModel(original), { optimization: 'disabled' });
  const image = makeFullSizeInput(0);
  const times = await interleave(
    {
      passes: () => simplifyToFixedPoint(cloneModel(original), { evaluate, foldLimitBytes: 1 << 20, check: () => [] }),
      inference: () => session.run({ image }),
    },
    ROUNDS,
  );
  await session.close();
  printTable(
    `simplify of maskrcnn_resnet50_fpn_v2's backbone at ${FULL_SIZE.height}×${FULL_SIZE.width}: ms, median (quartiles) of ${ROUNDS}, interleaved`,
    [
      ['', 'ms', 'of one inference'],
      ['all passes to the fixed point', formatSamples(times.passes), formatRatio(times.passes.median, times.inference.median)],
      ['one inference, without graph optimisation', formatSamples(times.inference), '1.00×'],
    ],
  );
}
