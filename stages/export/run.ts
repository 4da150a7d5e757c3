/** How does a checkpoint become a model? Read it and its config, build, and write model, recipe and report. */
import { assertNever } from '../../src/base/assert-never.js';
import type { JsonObject } from '../../src/base/json.js';
import { toFloat32State } from '../../src/detection/network/float-state.js';
import type { StateDict } from '../../src/detection/network/state-dict.js';
import { encodeRecipe } from '../../src/detection/recipe.js';
import { type DetectorConfig, parseDetectorConfig, type ReadConfig } from '../../src/detection/torchvision/config.js';
import { exportMaskRcnn, type MaskRcnnExport } from '../../src/detection/torchvision/export-maskrcnn.js';
import { exportMaskScoring, type MaskScoringExport } from '../../src/detection/torchvision/export-maskscoring.js';
import { writeModel } from '../../src/onnx/serde/model-file.js';
import type { Context } from '../../src/stage/context.js';
import type { StageJob } from '../../src/stage/define-stage.js';
import { readJsonFile, writeJsonFile } from '../../src/stage/json-file.js';
import { getOutputPath, readInput } from '../../src/stage/paths.js';
import { readStateDict, selectStateDict } from '../../src/tensor/state-dict.js';
import type { ExportParams } from './params.js';
import { flatten, makeReport } from './report.js';

/** A tensor that every network of the family has: its key tells a common prefix. */
const PROBE = 'backbone.body.conv1.weight';

export async function runExport({ params, inputs, outputs, context }: StageJob<ExportParams>): Promise<void> {
  const config = inputs.config === undefined ? undefined : await readInput(inputs, 'config', readJsonFile);
  const read = parseDetectorConfig(config, params.defaults);
  sayDefaults(read, context);

  const { prefix, tensors } = selectStateDict(await readInput(inputs, 'checkpoint', readStateDict), PROBE);
  const { state, converted } = toFloat32State(tensors);
  if (prefix !== '') context.log('info', `removed the prefix "${prefix}" of the checkpoint's keys`);
  for (const [dtype, count] of Object.entries(converted)) context.log('info', `converted ${count} ${dtype} tensors to float32`);

  const exported = build(state, read.config, params);
  await writeModel(getOutputPath(outputs, 'model'), exported.model);
  await writeJsonFile(getOutputPath(outputs, 'recipe'), encodeRecipe(exported.recipe));
  await writeJsonFile(getOutputPath(outputs, 'report'), makeReport(exported, read, { tensors: tensors.size, prefix, converted }));
}

function build(state: StateDict, config: DetectorConfig, params: ExportParams): MaskRcnnExport | MaskScoringExport {
  const [, , height = 0, width = 0] = params.input;
  const { architecture, roiBatch, fit, frozenBatchNormEpsilon: frozenEpsilon, maskInput = 'split' } = params;
  const options = { height, width, roiBatch, fit, frozenEpsilon };
  switch (architecture) {
    case 'maskrcnn':
      return exportMaskRcnn(state, config, options);
    case 'maskscoring':
      return exportMaskScoring(state, config, { ...options, roiBatch: { maskIou: 'free', ...roiBatch }, maskInput });
    default:
      return assertNever(architecture);
  }
}

/** A value that nobody wrote down is worth a warning. */
function sayDefaults({ config, fromDefaults }: ReadConfig, context: Context): void {
  if (fromDefaults.length === 0) return;
  const values = new Map(flatten(config as unknown as JsonObject, ''));
  const shown = fromDefaults.map(field =>
    field === 'categories' ? "categories (COCO's 80)" : `${field} = ${JSON.stringify(values.get(field))}`,
  );
  context.log('warning', `${fromDefaults.length} config values are torchvision's defaults: ${shown.join(', ')}`);
}
