/** What advice says: steps and rewrites that were tried on a copy of the model, each with the outcome before and after. */
import type { ModelCounts, ModelReport } from '../report/compile-report.js';
import type { FixIt } from '../report/finding.js';

/** What a model becomes on a target. */
export type Outcome = Pick<ModelCounts, 'npuMacShare' | 'npuParts' | 'parts' | 'cpuUnits'> & { readonly estimatedMs: number };

/** sizes: fix free sizes. cut: end the model before sizes that depend on data. batch: one image or RoI per call. quantize: quantize the float model again. */
export type StepKind = 'sizes' | 'cut' | 'batch' | 'quantize';

/** A step that no rewrite rule does. */
export type TriedStep = {
  readonly kind: StepKind;
  /** What to do, in one sentence. */
  readonly text: string;
  /** The param that does it, in YAML: of `import` for sizes and cut, of `quantize`. Absent if another program must do it. */
  readonly param?: string;
  readonly before: Outcome;
  readonly after: Outcome;
};

export type RefusedStep = { readonly kind: StepKind; readonly reason: string };

export type RuleForm = Pick<FixIt, 'rule' | 'form'>;

export type TriedRewrite = Pick<FixIt, 'rule' | 'form' | 'effect'> & {
  /** Places that the rule rewrote. */
  readonly places: number;
  readonly before: Outcome;
  readonly after: Outcome;
};

export type RefusedRewrite = RuleForm & { readonly reason: string };

export type DTypeRow = {
  readonly dtype: string;
  /** The rewrites that this data type needs. */
  readonly rewrites: readonly RuleForm[];
  /** Set if these need a newer operator set than the model has. */
  readonly opset?: number;
  readonly outcome: Outcome;
};

export type Advice = {
  /** Steps that come before the rewrites, in the order in which they were tried. */
  readonly steps: readonly TriedStep[];
  readonly refusedSteps: readonly RefusedStep[];
  /** Set if the rewrites need the model in this operator set, which is newer than its own. */
  readonly opset?: number;
  /** Rewrites that help, in the order in which they were tried, each on top of those before. */
  readonly rewrites: readonly TriedRewrite[];
  /** Rewrites that findings name, but that do not apply or do not help. */
  readonly refused: readonly RefusedRewrite[];
  /** What trusting that the target runs undocumented nodes adds to the rewrites, if anything. */
  readonly trust?: { readonly before: Outcome; readonly after: Outcome };
  /** One row per data type of the device, after the steps and with its own rewrites; the first is the chosen one. A quantized model is judged as if quantized again. */
  readonly dtypes: readonly DTypeRow[];
};

export function outcomeOf({ counts, estimate }: ModelReport): Outcome {
  const { npuMacShare, npuParts, parts, cpuUnits } = counts;
  return { npuMacShare, npuParts, parts, cpuUnits, estimatedMs: estimate.image.perImage.ms };
}

export function isBetter(after: Outcome, before: Outcome): boolean {
  return after.npuMacShare === before.npuMacShare ? after.cpuUnits < before.cpuUnits : after.npuMacShare > before.npuMacShare;
}
