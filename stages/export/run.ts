/** How does a checkpoint become a model? Its family reads it and its config, and builds; model, recipe and report are written. */
import { assertNever } from '../../src/base/assert-never.js';
import { encodeRecipe } from '../../src/detection/parse-recipe.js';
import { writeModel } from '../../src/onnx/serde/model-file.js';
import type { StageJob } from '../../src/stage/define-stage.js';
import { readJsonFile, writeJsonFile } from '../../src/stage/json-file.js';
import { getOutputPath, readInput } from '../../src/stage/paths.js';
import type { Exported } from './exported.js';
import type { ExportParams } from './params.js';
import { exportFromTorchvision } from './torchvision.js';
import { exportFromYolact } from './yolact.js';

export async function runExport(job: StageJob<ExportParams>): Promise<void> {
  const { model, recipe, report } = await exportFamily(job);
  await writeModel(getOutputPath(job.outputs, 'model'), model);
  await writeJsonFile(getOutputPath(job.outputs, 'recipe'), encodeRecipe(recipe));
  await writeJsonFile(getOutputPath(job.outputs, 'report'), report);
}

async function exportFamily(job: StageJob<ExportParams>): Promise<Exported> {
  const { architecture } = job.params;
  const config = job.inputs.config === undefined ? undefined : await readInput(job.inputs, 'config', readJsonFile);
  switch (architecture) {
    case 'maskrcnn':
    case 'maskscoring':
      return exportFromTorchvision(job, config);
    case 'yolact':
      return exportFromYolact(job, config);
    default:
      return assertNever(architecture);
  }
}
