/** Checks of rules and edits that JSON Schema cannot express. */
import type { Edit } from '../../src/onnx/rewrite/edits.js';
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
  return edits.flatMap((edit, index) => findProblems(edit).map(problem => `edits[${index}]: ${problem}`));
}

function findProblems({ select, constant, setAttribute, deleteAttribute, setConstant }: Edit): readonly string[] {
  const actions = [setAttribute, deleteAttribute, setConstant].filter(action => action !== undefined);
  if (actions.length !== 1) return ['set exactly one of setAttribute, deleteAttribute, setConstant'];
  if ((select === undefined) === (constant === undefined)) return ['set either select (a node) or constant (an initializer)'];
  if (constant !== undefined && setConstant === undefined) return ['constant (an initializer) requires setConstant'];
  if (select !== undefined && setConstant !== undefined && setConstant.input === undefined)
    return ['setConstant of a node needs the index of the input'];
  return [];
}
