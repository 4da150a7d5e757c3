/** Tries the steps that no rewrite rule does, each on top of those that helped before. */
import { isCodedError } from '../../base/coded-error.js';
import type { Model } from '../../onnx/ir/model.js';
import type { Evaluate } from '../../onnx/passes/evaluate.js';
import type { ModelReport } from '../report/compile-report.js';
import { isBetter, outcomeOf, type RefusedStep, type StepKind, type TriedStep } from './advice.js';
import { cutBeforeData, fixSizes, type Step, takeOne } from './size-steps.js';
import type { Judge, Judged } from './try-rewrites.js';

export interface StepLog {
  readonly steps: readonly TriedStep[];
  readonly refusedSteps: readonly RefusedStep[];
}

interface StepRule {
  readonly kind: StepKind;
  /** The rule whose findings the step fixes. */
  readonly fixes: string;
  /** A text says why it does not apply. */
  readonly apply: (model: Model, evaluate: Evaluate) => Step | string | Promise<Step | string>;
}

const SIZE_STEPS: readonly StepRule[] = [
  { kind: 'sizes', fixes: 'shape-dynamic', apply: fixSizes },
  { kind: 'cut', fixes: 'shape-dynamic', apply: cutBeforeData },
  { kind: 'batch', fixes: 'batch', apply: takeOne },
];

export async function trySizes(start: Judged, evaluate: Evaluate, judge: Judge): Promise<Judged & StepLog> {
  const steps: TriedStep[] = [];
  const refusedSteps: RefusedStep[] = [];
  let best = start;
  for (const { kind, fixes, apply } of SIZE_STEPS) {
    if (!hasFinding(best.report, [fixes])) continue;
    const tried = await tryStep(async () => apply(best.model, evaluate), judge);
    if (typeof tried === 'string') {
      refusedSteps.push({ kind, reason: tried });
      continue;
    }
    const [before, after] = [outcomeOf(best.report), outcomeOf(tried.report)];
    // Another finding may still keep the same units on the CPU.
    const isFixed = countFindings(tried.report, fixes) < countFindings(best.report, fixes);
    if (!isFixed && !isBetter(after, before))
      refusedSteps.push({ kind, reason: `${tried.step.text}: no more of the model runs on the NPU with it` });
    else {
      const { text, param } = tried.step;
      steps.push({ kind, text, ...(param === undefined ? {} : { param }), before, after });
      best = { model: tried.step.model, report: tried.report };
    }
  }
  return { ...best, steps, refusedSteps };
}

/** Models whose constants depend on the old sizes cannot be inferred with others. */
async function tryStep(
  apply: () => Promise<Step | string>,
  judge: Judge,
): Promise<{ readonly step: Step; readonly report: ModelReport } | string> {
  try {
    const step = await apply();
    return typeof step === 'string' ? step : { step, report: await judge(step.model) };
  } catch (error) {
    if (!isCodedError(error)) throw error;
    return error.message;
  }
}

function countFindings({ findings, units }: ModelReport, fixes: string): number {
  return [...findings, ...units.flatMap(unit => unit.findings)].filter(({ rule }) => rule === fixes).length;
}

/** Whether a finding of one of these rules keeps the model, or a unit of it, off the NPU. */
export function hasFinding({ findings, units }: ModelReport, rules: readonly string[]): boolean {
  const all = [...findings, ...units.flatMap(unit => unit.findings)];
  return all.some(({ rule, severity }) => severity !== 'warning' && rules.includes(rule));
}
