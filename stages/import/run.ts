/** Runs `import`: reads a model with its data, checks, imports, compares it with the original, and reports. */
import { countOf } from '../../src/base/text/count-of.js';
import { assertModel, findProblems } from '../../src/onnx/check/check-model.js';
import { importModel } from '../../src/onnx/import-model.js';
import type { Model } from '../../src/onnx/ir/model.js';
import { sortTopologically } from '../../src/onnx/ir/sort.js';
import { readModel, writeModel } from '../../src/onnx/serde/model-file.js';
import { evaluate } from '../../src/runtime/session/evaluate.js';
import type { Context } from '../../src/stage/context.js';
import type { StageJob } from '../../src/stage/define-stage.js';
import { writeJsonFile } from '../../src/stage/json-file.js';
import { getInputPath, getOutputPath, readInput } from '../../src/stage/paths.js';
import type { ImportParams } from './params.js';
import { assertProved, proveImport } from './proof.js';
import { listOtherDomains, makeReport } from './report.js';

export async function runImport({ params, inputs, outputs, context }: StageJob<ImportParams>): Promise<void> {
  const external = inputs.externalData === undefined ? {} : { externalFolder: getInputPath(inputs, 'externalData') };
  const original = await readInput(inputs, 'model', path => readModel(path, external));
  sortTopologically(original.graph);
  assertModel(original, 'the input');
  const { shapes, dims, batch, cut, opset, newer, foldLimitBytes } = params;
  const imported = await importModel(original, {
    pins: { shapes, dims, batch },
    cut,
    opset,
    newer,
    foldLimitBytes,
    evaluate,
    check: findProblems,
  });
  const path = getOutputPath(outputs, 'model');
  await writeModel(path, imported.model);
  const proof = await proveImport(imported, path, params, context);
  const { conversion, model } = imported;
  const { from, to } = conversion;
  const opsets = from === to ? `operator set ${to}` : `operator set ${from} became ${to}`;
  sayOtherDomains(model, context);
  context.log('info', `${opsets}; ${countOf(original.graph.nodes.size, 'node')} became ${model.graph.nodes.size}`);
  await writeJsonFile(getOutputPath(outputs, 'report'), makeReport(original, imported, proof));
  assertProved(proof);
}

/** Warns about operators that later stages can run but not analyze: contributed and vendor operators, and functions of the model. */
function sayOtherDomains(model: Model, context: Context): void {
  const others = listOtherDomains(model);
  if (others.length > 0)
    context.log('warning', `nodes of other operator domains are not changed, and their shapes may be unknown: ${others.join(', ')}`);
}
