/** What is wrong with rules and edits that a schema cannot see? */
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

/** Each edit has one action and something to act on. */
export function checkEdits(edits: readonly Edit[]): readonly string[] {
  return edits.flatMap((edit, index) => findProblems(edit).map(problem => `edits[${index}]: ${problem}`));
}

function findProblems({ select, constant, setAttribute, deleteAttribute, setConstant }: Edit): readonly string[] {
  const actions = [setAttribute, deleteAttribute, setConstant].filter(action => action !== undefined);
  if (actions.length !== 1) return ['give one of setAttribute, deleteAttribute, setConstant'];
  if ((select === undefined) === (constant === undefined)) return ['give one of select (a node) and constant (an initializer)'];
  if (constant !== undefined && setConstant === undefined) return ['an initializer takes setConstant only'];
  if (select !== undefined && setConstant !== undefined && setConstant.input === undefined)
    return ['setConstant of a node needs the index of the input'];
  return [];
}
