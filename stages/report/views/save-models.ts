/** Descriptions of the connected models for the view "Model". */
import { describeModel } from '../../../src/onnx/describe/describe-model.js';
import { readModel } from '../../../src/onnx/serde/model-file.js';
import { keyOf } from '../../../src/report/saved/answer-key.js';
import type { SavedAnswer } from '../../../src/report/saved/saved-answers.js';
import type { ReadArtifact } from '../connected.js';

/** @throws errors of reading models. */
export async function saveModels(
  models: readonly (readonly [string, string])[],
  read: ReadArtifact,
  answers: Record<string, SavedAnswer>,
): Promise<void> {
  for (const [name, path] of models)
    for (const { stage, output } of read('models', name))
      answers[keyOf('model', { stage, port: output })] = { kind: 'json', value: describeModel(await readModel(path)) };
}
