/** Which rule does a name mean? */
import { InternalError } from '../../../base/invariant.js';
import { OnnxError } from '../../onnx-error.js';
import type { RewriteRule } from '../rule.js';
import { convTransposeToDepthToSpace } from './conv-transpose-depth-to-space.js';
import { maxPool1x1 } from './maxpool-1x1.js';
import { findRuleProblem, MAXPOOL_FORMS } from './rule-list.js';

/** The rule that `name` and `form` name. @throws OnnxError `unknown-rule`, `unknown-form`. */
export function getRule(name: string, form: string | undefined): RewriteRule {
  const problem = findRuleProblem(name, form);
  if (problem !== undefined) throw new OnnxError(problem.code, problem.message, { help: problem.help });
  const maxPoolForm = MAXPOOL_FORMS.find(known => known === form);
  if (name === 'maxpool-1x1' && maxPoolForm !== undefined) return maxPool1x1(maxPoolForm);
  if (name === convTransposeToDepthToSpace.name) return convTransposeToDepthToSpace;
  throw new InternalError(`rule ${name} is listed and not made`);
}
