/** Runs `rewrite`: applies rules and edits, checks the model, and compares it with the original on real inputs. */
import { digestModelContent } from '../../src/onnx/analysis/content-digest.js';
import { assertModel, findProblems } from '../../src/onnx/check/check-model.js';
import { sortTopologically } from '../../src/onnx/ir/sort.js';
import { rewriteModel } from '../../src/onnx/rewrite/rewrite-model.js';
import { getRule } from '../../src/onnx/rules/target/get-rule.js';
import { readModel, writeModel } from '../../src/onnx/serde/model-file.js';
import { parseModelSketches } from '../../src/quant/calibration/model-sketches.js';
import type { StageJob } from '../../src/stage/define-stage.js';
import { readJsonFile, writeJsonFile } from '../../src/stage/json-file.js';
import { getInputPath, getOutputPath, readInput } from '../../src/stage/paths.js';
import type { RewriteParams } from './params.js';
import { measurePrice, notMeasured } from './price.js';
import { findRanges } from './ranges.js';
import { describeChanges } from './report.js';

export async function runRewrite({ params, inputs, outputs, context }: StageJob<RewriteParams>): Promise<void> {
  const source = getInputPath(inputs, 'model');
  const model = await readInput(inputs, 'model', readModel);
  const digest = digestModelContent(model);
  sortTopologically(model.graph);
  assertModel(model, 'the input');
  const ranges =
    inputs.sketches === undefined
      ? undefined
      : findRanges(model, digest, parseModelSketches(await readInput(inputs, 'sketches', readJsonFile)));
  const rules = params.rules.map(({ name, form, select, matches }) => ({ rule: getRule(name, form), select, matches }));
  const record = rewriteModel(model, { rules, edits: params.edits, check: findProblems, ...(ranges && { ranges }) });
  await writeModel(getOutputPath(outputs, 'model'), model);

  for (const rule of record.rules)
    context.log('info', `${rule.rule} (${rule.proof}): ${rule.applied.length} applied, ${rule.declined.length} declined`);
  for (const edit of record.edits) context.log('info', `${edit.at}: ${edit.what} was ${edit.before}, is ${edit.after}`);
  const isCut = record.rules.some(rule => rule.applied.some(({ host }) => host !== undefined));
  const price = isCut
    ? notMeasured('operations cut off at an end of the model run on the host, so the outputs are different tensors')
    : await measurePrice({ model, before: source, after: getOutputPath(outputs, 'model') }, inputs, { ...params, context });
  if (price.kind === 'not-measured') context.log('info', `the price was not measured: ${price.reason}`);
  await writeJsonFile(getOutputPath(outputs, 'report'), describeChanges(record, price));
}
