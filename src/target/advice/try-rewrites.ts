/** Tries the rewrite rules that findings name, one on top of the other, also in a newer operator set, which can have other operators. */
import { cloneModel } from '../../onnx/ir/clone.js';
import type { Model } from '../../onnx/ir/model.js';
import { OnnxError } from '../../onnx/ir/onnx-error.js';
import { sortTopologically } from '../../onnx/ir/sort.js';
import { convertOpset } from '../../onnx/opset/convert-opset.js';
import { rewriteModel } from '../../onnx/rewrite/rewrite-model.js';
import { getRule } from '../../onnx/rules/target/get-rule.js';
import type { ModelReport } from '../report/compile-report.js';
import type { FixIt } from '../report/finding.js';
import { isBetter, outcomeOf, type RefusedRewrite, type TriedRewrite } from './advice.js';

/** `HardSwish` exists from opset 14 on; 17 is the set that every version of the vendor's software reads, and that `import` writes. */
const MODERN_OPSET = 17;

export interface Judged {
  readonly model: Model;
  readonly report: ModelReport;
}

export interface Tried extends Judged {
  readonly opset?: number;
  readonly rewrites: readonly TriedRewrite[];
  readonly refused: readonly RefusedRewrite[];
}

export type Judge = (model: Model) => Promise<ModelReport>;

/** Until no rewrite is left that helps. `start.model` is not changed. */
export async function tryRewrites(start: Judged, judge: Judge): Promise<Tried> {
  const own = await tryInOrder(start, judge);
  const modern = own.refused.length === 0 ? undefined : await tryModern(start.model, judge);
  const isModern = modern !== undefined && isBetter(outcomeOf(modern.report), outcomeOf(own.report));
  return isModern ? { ...modern, opset: MODERN_OPSET } : own;
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
  return tryInOrder({ model: copy, report: await judge(copy) }, judge);
}

async function tryInOrder(start: Judged, judge: Judge): Promise<Tried> {
  const rewrites: TriedRewrite[] = [];
  const refused = new Map<string, RefusedRewrite>();
  let { model: best, report } = start;
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
