/** The lookup of a rewrite rule by name and form. */
import { getDefined } from '../../../base/invariant.js';
import { OnnxError } from '../../ir/onnx-error.js';
import type { RewriteRule } from '../../rewrite/rule.js';
import { findRuleProblem } from '../rule-table.js';
import { RULES } from './rules.js';

const BY_NAME: Readonly<
  Record<string, Readonly<Record<string, Pick<RewriteRule, 'proof'> & { readonly code: Omit<RewriteRule, 'name' | 'proof'> }>>>
> = RULES;

/** The rule with this name and form. @throws OnnxError `unknown-rule`, `unknown-form`. */
export function getRule(name: string, form: string | undefined): RewriteRule {
  const problem = findRuleProblem(name, form);
  if (problem !== undefined) throw new OnnxError(problem.code, problem.message, { help: problem.help });
  const { proof, code } = getDefined(BY_NAME[name]?.[form ?? ''], `rule ${name}${form === undefined ? '' : `/${form}`}`);
  return { name, proof, ...code };
}
