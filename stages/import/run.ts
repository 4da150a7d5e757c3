/** Runs `import`: reads a model with its data, checks, imports, compares it with the original, and reports. */
import { CodedError, isCodedError } from '../../src/base/coded-error.js';
import { countOf } from '../../src/base/text/count-of.js';
import { assertModel, findProblems } from '../../src/onnx/check/check-model.js';
import { importModel } from '../../src/onnx/import-model.js';
import type { Model } from '../../src/onnx/ir/model.js';
import { sortTopologically } from '../../src/onnx/ir/sort.js';
import { readModel, writeModel } from '../../src/onnx/serde/model-file.js';
import { evaluate } from '../../src/runtime/session/evaluate.js';
import type { Context } from '../../src/stage/context.js';
import type { InputPaths, StageJob } from '../../src/stage/define-stage.js';
import { writeJsonFile } from '../../src/stage/json-file.js';
import { findInputPath, getOutputPath, readInput } from '../../src/stage/paths.js';
import type { ImportParams } from './params.js';
import { assertProved, proveImport } from './proof.js';
import { listOtherDomains, makeReport } from './report.js';

export async function runImport({ params, inputs, outputs, context }: StageJob<ImportParams>): Promise<void> {
  const original = await readOriginal(inputs);
  sortTopologically(original.graph);
  assertModel(original, 'the input');
  const { shapes, dims, batch, unbatched, cut, opset, newer, foldLimitBytes } = params;
  const imported = await importModel(original, {
    pins: { shapes, dims, batch },
    unbatched,
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

/** Files of weights that are not connected are missing from the folder of a run; the help tells how they are connected. */
async function readOriginal(inputs: InputPaths): Promise<Model> {
  const externalData = findInputPath(inputs, 'externalData');
  try {
    return await readInput(inputs, 'model', path => readModel(path, externalData === undefined ? {} : { externalData }));
  } catch (error) {
    if (externalData !== undefined || !isCodedError(error) || error.code !== 'external-data-missing') throw error;
    const { code, message, details, cause } = error;
    throw new CodedError(code, message, { details, cause, help: CONNECT_HELP });
  }
}

const CONNECT_HELP =
  'beside a source "model.onnx", a file "model.onnx.data" or "model.onnx_data" is found by itself; else add a source with the file, or with the folder of several files, and connect it: externalData: "${sources.weights}"';

/** Warns about operators that later stages can run but not analyze: contributed and vendor operators, and functions of the model. */
function sayOtherDomains(model: Model, context: Context): void {
  const others = listOtherDomains(model);
  if (others.length > 0)
    context.log('warning', `nodes of other operator domains are not changed, and their shapes may be unknown: ${others.join(', ')}`);
}
