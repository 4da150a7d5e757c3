/** Measures `compile` on a full-size backbone: the run of the stage without process start, its steps, and the share of the bundle. */
import { join } from 'node:path';
import { digestModelContent } from '../src/onnx/analysis/content-digest.js';
import type { Model } from '../src/onnx/ir/model.js';
import { rewriteModel } from '../src/onnx/rewrite/rewrite-model.js';
import { getRule } from '../src/onnx/rules/target/get-rule.js';
import { readModel, writeModel } from '../src/onnx/serde/model-file.js';
import { addressValues } from '../src/quant/calibration/value-address.js';
import { quantizeModel } from '../src/quant/quantize-model.js';
import { PRESETS } from '../src/quant/scheme/scheme.js';
import { sketchTensor } from '../src/quant/sketch/sketch.js';
import { evaluate } from '../src/runtime/session/evaluate.js';
import { compileModel } from '../src/target/compile-model.js';
import { chooseTarget, getBuiltInProfile } from '../src/target/profile/choose-target.js';
import { compile } from '../stages/compile/stage.js';
import { generatedInput } from '../test/support/generated-weights.js';
import { runStage, temporaryFolder } from '../test/support/run-stage.js';
import { FULL_SIZE, makeFullSizeBackbone } from './full-size-backbone.js';
import { formatSamples, printTable } from './table.js';
import { interleave } from './timing.js';

const ROUNDS = 3;
const AIM_S = 5;

export async function measureCompile(): Promise<void> {
  const folder = await temporaryFolder('bench-compile');
  try {
    const model = await makeQuantizedBackbone();
    const path = join(folder.path, 'backbone.onnx');
    await writeModel(path, model);
    const target = chooseTarget(getBuiltInProfile('ryzen-ai'), { dtype: 'xint8' });
    const options = { evaluate, undocumented: 'cpu', accept: 'quantized' } as const;
    const stage = (golden: number) =>
      runStage(compile, {
        params: { target: 'ryzen-ai', dtype: 'xint8', golden },
        inputs: { models: { backbone: path } },
        folder: folder.path,
      });
    const times = await interleave(
      {
        read: () => readModel(path),
        analyse: () => compileModel('backbone', model, target, options),
        stage: () => stage(0),
        golden: () => stage(1),
      },
      ROUNDS,
    );
    const { report } = await compileModel('backbone', model, target, options);
    const { counts, estimate } = report;
    printTable(
      `compile of maskrcnn_resnet50_fpn_v2's backbone at ${FULL_SIZE.height}×${FULL_SIZE.width}, xint8, ${counts.nodes} nodes: ms, median (quartiles) of ${ROUNDS}, interleaved`,
      [
        ['', 'ms', `aim ${AIM_S} s`],
        ['read the model', formatSamples(times.read)],
        ['legality, partition, parts, estimate', formatSamples(times.analyse)],
        ['the stage, bundle without golden values', formatSamples(times.stage), times.stage.median < 1000 * AIM_S ? 'kept' : 'MISSED'],
        ['the stage, with one golden sample: an inference of the model', formatSamples(times.golden)],
      ],
    );
    const { ms, lowMs, highMs } = estimate.image.perImage;
    console.log(
      `  ${counts.npuParts} NPU part, ${counts.cpuNodes} nodes on the CPU, ${(counts.macs / 1e9).toFixed(1)} GMAC; estimated ${ms.toFixed(0)} ms (${lowMs.toFixed(0)} to ${highMs.toFixed(0)}), not measured`,
    );
  } finally {
    await folder.remove();
  }
}

/** Ranges do not affect what is compiled, so one generated sketch serves every value. */
async function makeQuantizedBackbone(): Promise<Model> {
  const model = await makeFullSizeBackbone();
  rewriteModel(model, { rules: [{ rule: getRule('maxpool-1x1', 'depthwise'), matches: 'one' }], edits: [], check: () => [] });
  const sketch = sketchTensor(generatedInput('sketch', [4096], 4).data);
  const values = new Map([...addressValues(model).values()].map(address => [address, { name: '', sketch }] as const));
  const digest = digestModelContent(model);
  quantizeModel(model, digest, { model: digest, samples: 1, values }, { scheme: PRESETS.xint8, exclude: [], domain: 'ai.onnx' });
  return model;
}
