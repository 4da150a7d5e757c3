/** `tanren quant sensitivity STAGE`: ranks the layers of a quantized model by what they cost. It reads artifacts and writes nothing. */
import { CodedError } from '../../../base/coded-error.js';
import type { InputBinding, Plan, PlannedStage, StageId } from '../../../engine/model/plan.js';
import { parseSensitivityReport, type SensitivityReport } from '../../../quant/sensitivity/report-schema.js';
import { openPlan, type PipelineOptions } from '../../pipeline/open-plan.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { formatSensitivity } from '../../render/sensitivity-report.js';
import { makeConsole } from '../../terminal/console.js';
import { endWithError } from '../../terminal/end-with-error.js';
import { notBuilt, readBuiltJson } from './built-report.js';

export type QuantSensitivityOptions = PipelineOptions & { readonly json: boolean; readonly all: boolean };

interface Found {
  readonly stage: StageId;
  readonly report: SensitivityReport;
}

export async function runQuantSensitivity(where: string, options: QuantSensitivityOptions): Promise<ExitCode> {
  const console = makeConsole({ json: options.json });
  try {
    const opened = await openPlan(options, [where], console);
    if (opened === undefined) return EXIT.usage;
    const found = findReports(opened.plan, opened.targets === 'all' ? [] : opened.targets);
    if (options.json) console.json(found.length === 1 ? found[0] : found);
    else
      for (const { stage, report } of found)
        for (const line of formatSensitivity(stage, report, options.all ? 'all' : 'first')) console.line(line);
    return EXIT.built;
  } catch (error) {
    return endWithError(error, console, options, EXIT.usage);
  }
}

function findReports(plan: Plan, ids: readonly StageId[]): readonly Found[] {
  const stages = ids.flatMap(id => plan.stages.get(id) ?? []);
  const measuring = [...new Set(stages.flatMap(stage => measuringStages(plan, stage)))];
  if (measuring.length === 0) throw notMeasured(stages);
  return measuring.map(stage => {
    const report = readBuiltJson(plan, stage, 'report');
    if (report === undefined) throw notBuilt(stage);
    return { stage: stage.id, report: parseSensitivityReport(report) };
  });
}

/** The stage itself, or the `sensitivity` stages that measure its model. */
function measuringStages(plan: Plan, stage: PlannedStage): readonly PlannedStage[] {
  if (stage.plugin.name === 'sensitivity') return [stage];
  return [...plan.stages.values()].filter(({ plugin, inputs }) => plugin.name === 'sensitivity' && isFrom(inputs.model, stage.id));
}

function isFrom(binding: InputBinding | undefined, stage: StageId): boolean {
  return binding?.kind === 'artifact' && binding.stage === stage;
}

function notMeasured(stages: readonly PlannedStage[]): CodedError {
  const names = stages.map(({ id }) => id).join(', ');
  const first = stages.find(hasModel);
  if (first === undefined) {
    return new CodedError('not-measured', `${names} ${stages.length === 1 ? 'has' : 'have'} no model`, {
      help: 'name a stage whose model a `sensitivity` stage measures, such as `quantize`',
    });
  }
  return new CodedError('not-measured', `no \`sensitivity\` stage measures the model of ${names}`, {
    help: `add to the pipeline: sensitivity: {uses: sensitivity, inputs: {model: ${first.id}.model, float: FLOAT.model, captured: CAPTURE.captured}}`,
  });
}

function hasModel({ outputPorts }: PlannedStage): boolean {
  return outputPorts.model?.kind === 'onnx-model';
}
