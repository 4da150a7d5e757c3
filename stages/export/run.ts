/** Exports a checkpoint: the family builds the model and the host recipe; model, recipe and report are written. */
import type { JsonObject } from '../../src/base/json.js';
import type { Model } from '../../src/onnx/ir/model.js';
import { writeModel } from '../../src/onnx/serde/model-file.js';
import type { StageJob } from '../../src/stage/define-stage.js';
import { readJsonFile, writeJsonFile } from '../../src/stage/json-file.js';
import { getOutputPath, readInput } from '../../src/stage/paths.js';
import { readCheckpoint } from './checkpoint.js';
import { listConfigSources, warnOfDefaults } from './config-values.js';
import { type ExportParams, getFamily } from './params.js';

/** @throws DetectionError `bad-config`, `checkpoint-mismatch`, `config-mismatch`, `input-size`, `frozen-epsilon`. */
export async function runExport(job: StageJob<ExportParams>): Promise<void> {
  const { params, inputs, outputs, context } = job;
  const family = getFamily(params);
  const config = inputs.config === undefined ? undefined : await readInput(inputs, 'config', readJsonFile);
  const configured = (await family.load()).readConfig(config, params.defaults);
  warnOfDefaults(configured, context);
  const { state, facts } = await readCheckpoint(job, family.probe);
  const [, , height = 0, width = 0] = params.input;
  const { model, recipe, notes, report } = configured.export(state, { ...params, height, width });
  for (const note of notes) context.log('info', note);
  await writeModel(getOutputPath(outputs, 'model'), model);
  await writeJsonFile(getOutputPath(outputs, 'recipe'), recipe);
  await writeJsonFile(
    getOutputPath(outputs, 'report'),
    report({ checkpoint: { ...facts }, operators: countOperators(model), config: listConfigSources(configured) }),
  );
}

/** Number of nodes per operator, by operator name. */
function countOperators(model: Model): JsonObject {
  const counts: Record<string, number> = {};
  for (const node of model.graph.nodes.values()) counts[node.opType] = (counts[node.opType] ?? 0) + 1;
  return Object.fromEntries(Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1)));
}
