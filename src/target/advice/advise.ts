/** Advice for a model: what fixes each finding, tried on a copy, and what each data type of the target makes of the model. */
import type { Json } from '../../base/json.js';
import type { Model } from '../../onnx/ir/model.js';
import { type CompileOptions, compileModel } from '../compile-model.js';
import { modeOf } from '../legality/judge-units.js';
import { chooseTarget, type Target } from '../profile/choose-target.js';
import type { Device, ModelReport } from '../report/compile-report.js';
import { TargetError } from '../report/target-error.js';
import { type Advice, type DTypeRow, isBetter, outcomeOf } from './advice.js';
import { removeQuantization } from './remove-quantization.js';
import { type Judge, type Tried, tryRewrites } from './try-rewrites.js';
import { hasFinding, type StepLog, trySizes } from './try-steps.js';

export type AdviceOptions = Omit<CompileOptions, 'accept' | 'batches'>;

export interface AdvisedModel {
  readonly advice: Advice;
  /** The model with the steps and rewrites. */
  readonly model: Model;
}

type JudgeOn = (model: Model, on: Target, undocumented?: Device) => Promise<ModelReport>;

/**
 * Tries the steps about sizes, then each rewrite that a finding names, then another quantization, each on top of what helped before.
 * `model` is not changed. @throws as compileModel.
 */
export async function adviseModel(model: Model, json: Json, target: Target, options: AdviceOptions): Promise<AdvisedModel> {
  const judgeOn: JudgeOn = async (some, on, undocumented = options.undocumented) =>
    (await compileModel('model', some, on, { ...options, undocumented, accept: 'any' })).report;
  const judge: Judge = some => judgeOn(some, target);
  const sized = await trySizes({ model, report: await judge(model) }, options.evaluate, judge);
  const own = await tryRewrites(sized, judge);
  const again = await tryQuantization(own, target.identity.dtype, options, judge);
  const chosen = again?.tried ?? own;
  const [before, after] = [outcomeOf(chosen.report), outcomeOf(await judgeOn(chosen.model, target, 'npu'))];

  const isFloat = modeOf(sized.model) === 'float';
  const start = isFloat ? sized.model : await removeQuantization(sized.model, options.evaluate);
  const advice: Advice = {
    steps: [...sized.steps, ...(again?.steps ?? [])],
    refusedSteps: [...sized.refusedSteps, ...(again?.refusedSteps ?? [])],
    ...(chosen.opset === undefined ? {} : { opset: chosen.opset }),
    rewrites: chosen.rewrites,
    refused: chosen.refused,
    ...(isBetter(after, before) ? { trust: { before, after } } : {}),
    dtypes: await judgeDTypes(start, json, target, isFloat ? own : undefined, judgeOn),
  };
  return { advice, model: chosen.model };
}

/** Rules about integers, scales and zero points, and about nodes that compute in float. */
const QUANTIZATION_RULES = [
  'activation-type',
  'weight-type',
  'bias-type',
  'weight-float',
  'scale-power-of-two',
  'zero-point',
  'per-channel',
  'qparams-computed',
  'bias-scale',
  'qdq-domain',
  'float-tail',
  'float-island',
  'not-quantized',
];

/**
 * The same network quantized by the data type, with the rewrites that match float models only. Undefined if neither findings nor refused rewrites ask for it.
 * It is judged in its float form, as if every operator was quantized as the data type demands.
 */
async function tryQuantization(
  own: Tried,
  dtype: string,
  { evaluate }: AdviceOptions,
  judge: Judge,
): Promise<(StepLog & { readonly tried?: Tried }) | undefined> {
  const isAsked = hasFinding(own.report, QUANTIZATION_RULES);
  if (modeOf(own.model) === 'float' || (!isAsked && own.refused.length === 0)) return undefined;
  const float = await removeQuantization(own.model, evaluate);
  const report = await judge(float);
  const then = await tryRewrites({ model: float, report }, judge);
  const before = outcomeOf(own.report);
  const text = isAsked
    ? `quantize the float model again with \`preset: ${dtype}\`, every operator of it`
    : `rewrite the float model, and quantize it again with \`preset: ${dtype}\``;
  if (!isBetter(outcomeOf(then.report), before)) {
    const reason = `${text}: no more of the model runs on the NPU with it`;
    return { steps: [], refusedSteps: isAsked ? [{ kind: 'quantize', reason }] : [] };
  }
  return {
    steps: [{ kind: 'quantize', text, param: `preset: ${dtype}`, before, after: outcomeOf(isAsked ? report : then.report) }],
    refusedSteps: [],
    tried: { ...then, rewrites: [...own.rewrites, ...then.rewrites] },
  };
}

/** @param own what was tried for the data type of `target`, if that began with `model`. */
async function judgeDTypes(model: Model, json: Json, target: Target, own: Tried | undefined, judgeOn: JudgeOn): Promise<Advice['dtypes']> {
  const { device, version, dtype: chosen } = target.identity;
  const rows: DTypeRow[] = [];
  for (const dtype of [chosen, ...target.dtypes.filter(name => name !== chosen)]) {
    const on = findTarget(json, { device, version, dtype });
    if (on === undefined) continue;
    const judge: Judge = some => judgeOn(some, on);
    const { report, rewrites, opset } =
      dtype === chosen && own !== undefined ? own : await tryRewrites({ model, report: await judge(model) }, judge);
    rows.push({
      dtype,
      rewrites: rewrites.map(({ rule, form }) => ({ rule, ...(form === undefined ? {} : { form }) })),
      ...(opset === undefined ? {} : { opset }),
      outcome: outcomeOf(report),
    });
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
