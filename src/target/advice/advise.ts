/** Advice for a model: rewrite rules that findings name, each tried on a copy, and what each data type of the target makes of the model. */
import type { Json } from '../../base/json.js';
import { cloneModel } from '../../onnx/ir/clone.js';
import type { Model } from '../../onnx/ir/model.js';
import { OnnxError } from '../../onnx/ir/onnx-error.js';
import { sortTopologically } from '../../onnx/ir/sort.js';
import { convertOpset } from '../../onnx/opset/convert-opset.js';
import { rewriteModel } from '../../onnx/rewrite/rewrite-model.js';
import { getRule } from '../../onnx/rules/target/get-rule.js';
import { type CompileOptions, compileModel } from '../compile-model.js';
import { modeOf } from '../legality/judge-units.js';
import { chooseTarget, type Target } from '../profile/choose-target.js';
import type { Device, ModelCounts, ModelReport } from '../report/compile-report.js';
import type { FixIt } from '../report/finding.js';
import { TargetError } from '../report/target-error.js';

/** What a model becomes on a target. */
export type Outcome = Pick<ModelCounts, 'npuMacShare' | 'npuParts' | 'parts' | 'cpuUnits'> & { readonly estimatedMs: number };

export type TriedRewrite = Pick<FixIt, 'rule' | 'form' | 'effect'> & {
  /** Places that the rule rewrote. */
  readonly places: number;
  readonly before: Outcome;
  readonly after: Outcome;
};

export type RefusedRewrite = Pick<FixIt, 'rule' | 'form'> & { readonly reason: string };

export type Advice = {
  /** Set if the rewrites need the model in this operator set, which is newer than its own. */
  readonly opset?: number;
  /** Rewrites that help, in the order in which they were tried, each on top of those before. */
  readonly rewrites: readonly TriedRewrite[];
  /** Rewrites that findings name, but that do not apply or do not help. */
  readonly refused: readonly RefusedRewrite[];
  /** What trusting that the target runs undocumented nodes adds to the rewrites, if anything. */
  readonly trust?: { readonly before: Outcome; readonly after: Outcome };
  /** Of a float model with the rewrites, one row per data type of the device; the first is the chosen one. */
  readonly dtypes: readonly { readonly dtype: string; readonly outcome: Outcome }[];
};

/** `HardSwish` exists from opset 14 on; 17 is the set that every version of the vendor's software reads, and that `import` writes. */
const MODERN_OPSET = 17;

export type AdviceOptions = Omit<CompileOptions, 'accept' | 'batches'>;

export interface AdvisedModel {
  readonly advice: Advice;
  /** The model with the rewrites. */
  readonly model: Model;
}

/**
 * Tries each rewrite that a finding names, until none is left that helps; where one does not, also in a newer operator set, which can have other operators.
 * `model` is not changed. @throws as compileModel.
 */
export async function adviseModel(model: Model, json: Json, target: Target, options: AdviceOptions): Promise<AdvisedModel> {
  const judge: Judge = async (some, on = target, undocumented = options.undocumented) =>
    (await compileModel('model', some, on, { ...options, undocumented, accept: 'any' })).report;
  const own = await tryRewrites(model, judge);
  const modern = own.refused.length === 0 ? undefined : await tryModern(model, judge);
  const isModern = modern !== undefined && isBetter(outcomeOf(modern.report), outcomeOf(own.report));
  const { model: best, report, rewrites, refused } = isModern ? modern : own;
  const [before, after] = [outcomeOf(report), outcomeOf(await judge(best, target, 'npu'))];
  const dtypes = modeOf(model) === 'float' ? await judgeDTypes(best, json, target, judge) : [];
  const advice = {
    ...(isModern ? { opset: MODERN_OPSET } : {}),
    rewrites,
    refused,
    ...(isBetter(after, before) ? { trust: { before, after } } : {}),
    dtypes,
  };
  return { advice, model: best };
}

type Judge = (model: Model, on?: Target, undocumented?: Device) => Promise<ModelReport>;

interface Tried {
  readonly model: Model;
  readonly report: ModelReport;
  readonly rewrites: readonly TriedRewrite[];
  readonly refused: readonly RefusedRewrite[];
}

/** Undefined for a model that has a newer operator set already, or that cannot be converted. */
async function tryModern(model: Model, judge: Judge): Promise<Tried | undefined> {
  if ((model.opsets.get('') ?? MODERN_OPSET) >= MODERN_OPSET) return undefined;
  const copy = cloneModel(model);
  try {
    sortTopologically(copy.graph);
    convertOpset(copy, MODERN_OPSET);
  } catch (error) {
    if (error instanceof OnnxError) return undefined;
    throw error;
  }
  return tryRewrites(copy, judge);
}

async function tryRewrites(model: Model, judge: Judge): Promise<Tried> {
  const rewrites: TriedRewrite[] = [];
  const refused = new Map<string, RefusedRewrite>();
  let best = model;
  let report = await judge(model);
  for (let next = findNext(report, rewrites, refused); next !== undefined; next = findNext(report, rewrites, refused)) {
    const { rule, effect, ...form } = { ...next };
    const trial = tryRule(best, next);
    const before = outcomeOf(report);
    const rewritten = typeof trial === 'string' ? undefined : await judge(trial.model);
    if (typeof trial === 'string' || rewritten === undefined || !isBetter(outcomeOf(rewritten), before)) {
      const reason = typeof trial === 'string' ? trial : describeNoGain(rewritten);
      refused.set(keyOf(next), { rule, ...(form.form === undefined ? {} : { form: form.form }), reason });
      continue;
    }
    const after = outcomeOf(rewritten);
    rewrites.push({ rule, ...(form.form === undefined ? {} : { form: form.form }), effect, places: trial.places, before, after });
    [best, report] = [trial.model, rewritten];
  }
  return { model: best, report, rewrites, refused: [...refused.values()] };
}

/** Names the operators that stay undocumented. */
function describeNoGain(report: ModelReport | undefined): string {
  const open = (report?.units ?? []).filter(({ findings }) => findings.some(({ severity }) => severity === 'undocumented'));
  const names = [...new Set(open.map(({ opType }) => opType))];
  const reason = 'no more of the model runs on the NPU with it';
  return names.length === 0 ? reason : `${reason}; undocumented are then ${names.join(', ')}`;
}

type Named = Pick<FixIt, 'rule' | 'form' | 'effect'>;

function keyOf({ rule, form }: Pick<FixIt, 'rule' | 'form'>): string {
  return `${rule}/${form ?? ''}`;
}

/** The first rewrite of a finding that keeps units off the NPU, and that was not tried yet. */
function findNext({ units }: ModelReport, tried: readonly Named[], refused: ReadonlyMap<string, unknown>): Named | undefined {
  const done = new Set([...tried.map(keyOf), ...refused.keys()]);
  const findings = units.flatMap(unit => unit.findings).filter(({ severity }) => severity !== 'warning');
  return findings.flatMap(({ fixIts }) => fixIts).find(fixIt => !done.has(keyOf(fixIt)));
}

/** The rewritten copy, or why there is none. */
function tryRule(model: Model, { rule, form }: Named): { readonly model: Model; readonly places: number } | string {
  const copy = cloneModel(model);
  try {
    sortTopologically(copy.graph);
    const { rules } = rewriteModel(copy, { rules: [{ rule: getRule(rule, form), matches: 'any' }], edits: [], check: () => [] });
    const [record] = rules;
    const places = record?.applied.length ?? 0;
    if (places > 0) return { model: copy, places };
    const miss = record?.declined[0] ?? record?.nearestMiss;
    return miss === undefined
      ? 'it matches no node; rules match float models, so rewrite before `quantize`'
      : `${miss.node}: ${miss.reason}`;
  } catch (error) {
    if (!(error instanceof OnnxError)) throw error;
    return error.message;
  }
}

function outcomeOf({ counts, estimate }: ModelReport): Outcome {
  const { npuMacShare, npuParts, parts, cpuUnits } = counts;
  return { npuMacShare, npuParts, parts, cpuUnits, estimatedMs: estimate.image.perImage.ms };
}

function isBetter(after: Outcome, before: Outcome): boolean {
  return after.npuMacShare === before.npuMacShare ? after.cpuUnits < before.cpuUnits : after.npuMacShare > before.npuMacShare;
}

async function judgeDTypes(
  model: Model,
  json: Json,
  { identity: { device, version, dtype: own }, dtypes }: Target,
  judge: Judge,
): Promise<Advice['dtypes']> {
  const rows: { dtype: string; outcome: Outcome }[] = [];
  for (const dtype of [own, ...dtypes.filter(name => name !== own)]) {
    const target = findTarget(json, { device, version, dtype });
    if (target !== undefined) rows.push({ dtype, outcome: outcomeOf(await judge(model, target)) });
  }
  return rows;
}

/** Undefined for a data type that the device or the version does not have. */
function findTarget(json: Json, choice: { readonly device: string; readonly version: string; readonly dtype: string }): Target | undefined {
  try {
    return chooseTarget(json, choice);
  } catch (error) {
    if (error instanceof TargetError && error.code === 'target-combination') return undefined;
    throw error;
  }
}
