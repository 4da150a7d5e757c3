/**
 * `tanren quant explain MODEL-OR-STAGE TENSOR`: explains how one tensor was quantized, why, and the error this causes.
 * It reads artifacts and writes nothing.
 */
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { CodedError } from '../../../base/coded-error.js';
import { describeNear, findNear } from '../../../base/text/did-you-mean.js';
import { artifactPath } from '../../../engine/model/artifact-path.js';
import type { InputBinding, InputRef, Plan, PlannedStage, StageId } from '../../../engine/model/plan.js';
import { readModel } from '../../../onnx/serde/model-file.js';
import { findPropagatedErrors } from '../../../quant/compare/propagated-error.js';
import { explainTensor, type TensorExplanation } from '../../../quant/report/explain-tensor.js';
import { parseQuantizationReport } from '../../../quant/report/report-entries.js';
import { openPlan, type PipelineOptions } from '../../pipeline/open-plan.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { formatExplanation, type Propagated } from '../../render/tensor-explanation.js';
import { type Console, makeConsole } from '../../terminal/console.js';
import { endWithError } from '../../terminal/end-with-error.js';
import { notBuilt, readBuiltJson } from './built-report.js';

export type QuantExplainOptions = PipelineOptions & { readonly json: boolean };

interface Found {
  /** The stage's id or the file's name. */
  readonly owner: string;
  readonly explanation: Exclude<TensorExplanation, { readonly kind: 'unknown' }>;
  readonly propagated: readonly Propagated[];
}

export async function runQuantExplain(where: string, tensor: string, options: QuantExplainOptions): Promise<ExitCode> {
  const console = makeConsole({ json: options.json });
  try {
    const opened = isModelFile(where) ? undefined : await openPlan(options, [where], console);
    if (opened === undefined && !isModelFile(where)) return EXIT.usage;
    const found =
      opened === undefined
        ? [await explainFile(where, tensor)]
        : await explainStages(opened.plan, opened.targets === 'all' ? [] : opened.targets, tensor, console);
    if (options.json) console.json(found.length === 1 ? found[0] : found);
    else
      for (const { explanation, owner, propagated } of found)
        for (const line of formatExplanation(explanation, owner, propagated)) console.line(line);
    return EXIT.built;
  } catch (error) {
    return endWithError(error, console, options, EXIT.usage);
  }
}

/** A path that ends in .onnx is a model file, whether or not it exists. A stage cannot have such a name. */
function isModelFile(where: string): boolean {
  return where.endsWith('.onnx') || (where.includes('/') && existsSync(where));
}

async function explainFile(path: string, tensor: string): Promise<Found> {
  const explanation = explainTensor((await readModel(path)).graph, undefined, tensor);
  if (explanation.kind === 'unknown') throw unknownTensor(tensor, basename(path), explanation.names);
  return { owner: basename(path), explanation, propagated: [] };
}

/** Explains the tensor for those of the given stages that have it. */
async function explainStages(plan: Plan, ids: readonly StageId[], tensor: string, console: Console): Promise<readonly Found[]> {
  const stages = ids.flatMap(id => plan.stages.get(id) ?? []);
  const other = stages.find(stage => stage.plugin.name !== 'quantize');
  if (other !== undefined) throw notQuantize(plan, other);
  const explained = await Promise.all(
    stages.map(async stage => ({ stage, explanation: await explainStage(plan, stage, tensor, console) })),
  );
  const found = explained.flatMap(({ stage, explanation }): Found[] =>
    explanation.kind === 'unknown' ? [] : [{ owner: stage.id, explanation, propagated: findPropagated(plan, stage, explanation) }],
  );
  if (found.length > 0) return found;
  const names = explained.flatMap(({ explanation }) => (explanation.kind === 'unknown' ? explanation.names : []));
  throw unknownTensor(tensor, ids.join(', '), names);
}

async function explainStage(plan: Plan, stage: PlannedStage, tensor: string, console: Console): Promise<TensorExplanation> {
  const report = readBuiltJson(plan, stage, 'report');
  const model = join(plan.projectFolder, artifactPath(plan, stage, 'model'));
  if (report === undefined || !existsSync(model)) throw notBuilt(stage);
  const warn = (message: string): void => console.problem('warning', `warning[${FORMER_NAME}]: ${stage.id}: ${message}`);
  return explainTensor((await readModel(model)).graph, parseQuantizationReport(report, warn), tensor);
}

/** The errors of the value in the reports of `verify` stages that compare this stage's model. */
function findPropagated(plan: Plan, quantize: PlannedStage, explanation: Found['explanation']): readonly Propagated[] {
  const name = explanation.kind === 'quantized' ? explanation.tensor.name : explanation.name;
  return [...plan.stages.values()].flatMap(verify => {
    const { candidate } = verify.inputs;
    if (verify.plugin.name !== 'verify' || candidate === undefined) return [];
    const parts = partsFrom(candidate, quantize.id);
    const report = parts === 'none' ? undefined : readBuiltJson(plan, verify, 'report');
    const errors = report === undefined ? undefined : findPropagatedErrors(report);
    return (errors ?? [])
      .filter(({ part }) => parts === 'all' || parts.includes(part))
      .flatMap(({ samples, values }) => {
        const error = values.find(({ value }) => value === name);
        return error === undefined ? [] : [{ stage: verify.id, samples, error }];
      });
  });
}

/** The parts of a candidate that come from `stage`: its entries in a record, or all if the candidate is one model. */
function partsFrom(binding: InputBinding, stage: StageId): 'all' | 'none' | readonly string[] {
  const isFrom = (ref: InputRef): boolean => ref.kind === 'artifact' && ref.stage === stage;
  if (binding.kind !== 'record') return isFrom(binding) ? 'all' : 'none';
  const entries = Object.entries(binding.entries).filter(([, ref]) => isFrom(ref));
  return entries.length === 0 ? 'none' : entries.map(([name]) => name);
}

function notQuantize(plan: Plan, stage: PlannedStage): CodedError {
  const names = [...plan.stages.values()].filter(({ plugin }) => plugin.name === 'quantize').map(({ id }) => id);
  return new CodedError('not-quantize', `stage "${stage.id}" uses ${stage.plugin.name}, not quantize`, {
    help: names.length === 0 ? 'the pipeline has no stage that quantizes' : `stages that quantize: ${names.join(', ')}`,
  });
}

/** Code of the warning about former names in a report. */
const FORMER_NAME = 'former-name';

/** The number of names that a help line lists. */
const LISTED = 5;

function listNames(names: readonly string[]): string {
  const rest = names.length - LISTED;
  return `known names: ${names.slice(0, LISTED).join(', ')}${rest > 0 ? `, and ${rest} more` : ''}`;
}

function unknownTensor(tensor: string, owner: string, names: readonly string[]): CodedError {
  const near = findNear(tensor, names);
  return new CodedError('unknown-tensor', `${owner} has no tensor "${tensor}"`, {
    help: near.length === 0 ? listNames(names) : describeNear(near),
  });
}
