/** The model checker: it reports all problems of structure, functions and operators, with the node and value at fault. */

import type { Model } from '../ir/model.js';
import { OnnxError } from '../ir/onnx-error.js';
import { readFunctions } from './functions.js';
import { checkOperators } from './operators.js';
import type { ModelProblem, Report } from './problem.js';
import { checkFunctionStructure, checkStructure } from './structure.js';

export type { ModelProblem, ModelProblemCode } from './problem.js';

/** 'structure' omits checks against operator schemas, so that a model with invalid nodes can be repaired. */
export type CheckDepth = 'structure' | 'operators';

/** The checker as passes and rules receive it; it returns one message per problem. */
export type FindProblems = (model: Model, depth: CheckDepth) => readonly string[];

export const findProblems: FindProblems = (model, depth) => checkModel(model, depth).map(({ message }) => message);

/** Number of problems that get help texts, whose computation may be expensive. */
const MAX_HELPED = 100;

/** All problems of `model`: structure, functions, then operators, each in graph order; empty for a valid model. */
export function checkModel(model: Model, depth: CheckDepth = 'operators'): readonly ModelProblem[] {
  const problems: ModelProblem[] = [];
  const report: Report = (code, message, findHelp) => {
    const help = problems.length < MAX_HELPED ? findHelp?.() : undefined;
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

/** A problem of `after` that `before` does not have. A problem that only moved to a node or value with another name does not count. */
export function findNewProblem(before: readonly ModelProblem[], after: readonly ModelProblem[]): ModelProblem | undefined {
  const known = new Map<string, number>();
  for (const { code } of before) known.set(code, (known.get(code) ?? 0) + 1);
  const messages = new Set(before.map(({ message }) => message));
  const isMore = ({ code }: ModelProblem): boolean => after.filter(other => other.code === code).length > (known.get(code) ?? 0);
  return after.find(problem => !messages.has(problem.message) && isMore(problem));
}

/** @throws OnnxError `model-invalid` with all problems, if there are any. `what` names the model. */
export function assertModel(model: Model, what: string, depth: CheckDepth = 'operators'): void {
  const problems = checkModel(model, depth);
  if (problems.length === 0) return;
  const listed = problems.slice(0, 10).map(({ message, help }) => `\n  ${message}${help === undefined ? '' : `; ${help}`}`);
  const more = problems.length > listed.length ? `\n  and ${problems.length - listed.length} more` : '';
  throw new OnnxError('model-invalid', `${what} is not a valid model:${listed.join('')}${more}`, {
    details: problems.map(({ code, message }) => ({ code, message })),
  });
}
