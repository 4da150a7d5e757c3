/** Is a model well formed? Every problem is reported, with the node and value at fault: of structure, and of operators against their schemas. */

import type { Model } from '../ir/model.js';
import { OnnxError } from '../ir/onnx-error.js';
import { readFunctions } from './functions.js';
import { checkOperators } from './operators.js';
import type { ModelProblem, Report } from './problem.js';
import { checkFunctionStructure, checkStructure } from './structure.js';

export type { ModelProblem, ModelProblemCode } from './problem.js';

/** What is looked at: 'structure' leaves out what operators ask for, so that a model whose nodes are wrong can be mended. */
export type CheckDepth = 'structure' | 'operators';

/** What passes and rules are given to check a graph by; each problem is a message. */
export type FindProblems = (model: Model, depth: CheckDepth) => readonly string[];

export const findProblems: FindProblems = (model, depth) => checkModel(model, depth).map(({ message }) => message);

/** So many problems are given help, which may have to be looked for. */
const HELPED = 100;

/** All problems of `model`: of structure, of functions, then of operators, each in graph order; empty where it is well formed. */
export function checkModel(model: Model, depth: CheckDepth = 'operators'): readonly ModelProblem[] {
  const problems: ModelProblem[] = [];
  const report: Report = (code, message, findHelp) => {
    const help = problems.length < HELPED ? findHelp?.() : undefined;
    problems.push(help === undefined ? { code, message } : { code, message, help });
  };
  checkStructure(model, report);
  if (depth === 'structure') return problems;
  const functions = readFunctions(model, report);
  for (const one of functions.values()) {
    const inFunction: Report = (code, message, help) => report(code, `function ${one.name}: ${message}`, help);
    checkFunctionStructure(one, inFunction);
    checkOperators({ opsets: one.opsets, functions }, one.body, inFunction);
  }
  checkOperators({ opsets: model.opsets, functions }, model.graph, report);
  return problems;
}

/** A problem that `after` has and `before` had not; the same one at a node or value of another name is none. */
export function findNewProblem(before: readonly ModelProblem[], after: readonly ModelProblem[]): ModelProblem | undefined {
  const known = new Map<string, number>();
  for (const { code } of before) known.set(code, (known.get(code) ?? 0) + 1);
  const messages = new Set(before.map(({ message }) => message));
  const isMore = ({ code }: ModelProblem): boolean => after.filter(other => other.code === code).length > (known.get(code) ?? 0);
  return after.find(problem => !messages.has(problem.message) && isMore(problem));
}

/** @throws OnnxError `model-invalid`, with every problem, where there is one. `what` names the model. */
export function assertModel(model: Model, what: string, depth: CheckDepth = 'operators'): void {
  const problems = checkModel(model, depth);
  if (problems.length === 0) return;
  const listed = problems.slice(0, 10).map(({ message, help }) => `\n  ${message}${help === undefined ? '' : `; ${help}`}`);
  const more = problems.length > listed.length ? `\n  and ${problems.length - listed.length} more` : '';
  throw new OnnxError('model-invalid', `${what} is not a well-formed model:${listed.join('')}${more}`, {
    details: problems.map(({ code, message }) => ({ code, message })),
  });
}
