/** Runs `import`: reads a model with its data, checks, imports, compares it with the original, and reports. */
import { CodedError, isCodedError } from '../../src/base/coded-error.js';
import { collectGarbage } from '../../src/base/collect-garbage.js';
import type { JsonObject } from '../../src/base/json.js';
import { countOf } from '../../src/base/text/count-of.js';
import { assertModel, findProblems } from '../../src/onnx/check/check-model.js';
import { importModel } from '../../src/onnx/import-model.js';
import type { Model } from '../../src/onnx/ir/model.js';
import { sortTopologically } from '../../src/onnx/ir/sort.js';
import { readModel, writeModel } from '../../src/onnx/serde/model-file.js';
import type { Pins } from '../../src/onnx/surgery/pin-shapes.js';
import { evaluate } from '../../src/runtime/session/evaluate.js';
import type { Context } from '../../src/stage/context.js';
import type { InputPaths, StageJob } from '../../src/stage/define-stage.js';
import { writeJsonFile } from '../../src/stage/json-file.js';
import { getOutputPath, readInput } from '../../src/stage/paths.js';
import { assertSizeFits } from './image-size.js';
import type { ImportParams } from './params.js';
import { assertProved, claimImport, type ImportClaim, proveImport } from './proof.js';
import { describeImport, describeProof, listOtherDomains } from './report.js';

export async function runImport(job: StageJob<ImportParams>): Promise<void> {
  const { outputs, context } = job;
  const { report, claim } = await importAndWrite(job);
  // The models are not reachable any more: their weights are freed before ONNX Runtime loads them.
  collectGarbage();
  const proof = await proveImport(claim, getOutputPath(outputs, 'model'), context);
  if (proof.failed !== undefined) await explainSize(job, proof.failed);
  await writeJsonFile(getOutputPath(outputs, 'report'), { ...report, proof: describeProof(proof, claim) });
  assertProved(proof);
}

const pinsOf = ({ shapes, dims, batch }: ImportParams): Pins => ({ shapes, dims, batch });

/** @param reason why the model does not run at the size of the params. @throws StageError `image-size` if the size is the cause. */
async function explainSize({ params, inputs, context }: StageJob<ImportParams>, reason: string): Promise<void> {
  await assertSizeFits(await readOriginal(inputs), pinsOf(params), reason, context.scratch);
}

/** Writes the imported model. What it returns holds no weights. */
async function importAndWrite(job: StageJob<ImportParams>): Promise<{ readonly report: JsonObject; readonly claim: ImportClaim }> {
  const { params, inputs, outputs, context } = job;
  const original = await readOriginal(inputs);
  sortTopologically(original.graph);
  assertModel(original, 'the input');
  const { unbatched, float16, cut, opset, newer, foldLimitBytes } = params;
  const options = { pins: pinsOf(params), unbatched, float16, cut, opset, newer, foldLimitBytes, evaluate, check: findProblems } as const;
  const imported = await importModel(original, options).catch(async error => {
    if (isCodedError(error) && error.code === 'shape-mismatch') await explainSize(job, error.message);
    throw error;
  });
  await writeModel(getOutputPath(outputs, 'model'), imported.model);
  const { conversion, model } = imported;
  const { from, to } = conversion;
  const opsets = from === to ? `operator set ${to}` : `operator set ${from} became ${to}`;
  sayOtherDomains(model, context);
  if (imported.widened > 0)
    context.log('info', `${countOf(imported.widened, 'value')} of float16 became float32; equality is that with this widened graph`);
  context.log('info', `${opsets}; ${countOf(original.graph.nodes.size, 'node')} became ${model.graph.nodes.size}`);
  return { report: describeImport(original, imported), claim: await claimImport(imported, params, context) };
}

/** Files of weights that are not connected are missing from the folder of a run; the help tells how they are connected. */
async function readOriginal(inputs: InputPaths): Promise<Model> {
  const externalData = inputs.externalData;
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
