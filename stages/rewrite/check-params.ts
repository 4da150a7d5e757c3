/** Checks of rules and edits that JSON Schema cannot express. */
import { type Edit, findEditProblems } from '../../src/onnx/rewrite/edit-schema.js';
import { findRuleProblem } from '../../src/onnx/rules/rule-table.js';
import type { RuleParams } from './params.js';

/** Unknown rules and forms. */
export function checkRules(rules: readonly RuleParams[]): readonly string[] {
  return rules.flatMap(({ name, form }, index) => {
    const problem = findRuleProblem(name, form);
    return problem === undefined ? [] : [`rules[${index}]: ${problem.message}; ${problem.help}`];
  });
}

/** Each edit must have one action and one target. */
export function checkEdits(edits: readonly Edit[]): readonly string[] {
  return edits.flatMap((edit, index) => findEditProblems(edit).map(problem => `edits[${index}]: ${problem}`));
}
