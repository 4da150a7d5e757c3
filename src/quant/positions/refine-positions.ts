/** Moves positions so that the shifts of a target's arithmetic stay within its bounds, and says what each move costs. */
import type { Graph, ValueId } from '../../onnx/ir/model.js';
import type { RefinedPositions } from '../placement/draft.js';
import type { QuantizationPlan } from '../placement/plan-quantization.js';
import { type FoundProblem, findPositionProblem, type PositionContext } from './find-problem.js';
import { refineJointly } from './joint/refine-jointly.js';
import { priceOf } from './problem/position-problem.js';
import { holds, type PositionRule } from './problem/position-rule.js';
import { refineInOrder } from './refine-in-order.js';

/** 'joint': at the least cost. 'quark': in the order of AMD's quantizer. */
export type RefineMethod = 'joint' | 'quark';

export interface PositionMove {
  readonly name: string;
  readonly role: 'activation' | 'weight' | 'bias';
  readonly from: number;
  readonly to: number;
  /** Relative squared errors before and after. */
  readonly before: number;
  readonly after: number;
  /** The rules that involve the tensor. */
  readonly reasons: readonly Pick<PositionRule, 'kind' | 'node' | 'opType'>[];
}

export interface Refinement {
  readonly method: RefineMethod;
  /** By name. */
  readonly moves: readonly PositionMove[];
  /** Sum of the growth of relative squared errors. */
  readonly price: number;
  readonly isOptimal: boolean | undefined;
  /** Rules that do not hold in the end. */
  readonly unmet: readonly Pick<PositionRule, 'kind' | 'node' | 'opType'>[];
  /** For a plan with these positions; undefined if nothing moves. */
  readonly positions: RefinedPositions | undefined;
}

/** Changes nothing: `positions` are for another run of planQuantization. */
export function refinePositions(graph: Graph, plan: QuantizationPlan, method: RefineMethod, context: PositionContext): Refinement {
  const problem = findPositionProblem(graph, plan, context);
  const solution = method === 'joint' ? refineJointly(problem) : refineInOrder(problem);
  const { positions } = solution;
  const moves = problem.variables.flatMap((variable, index): readonly PositionMove[] => {
    const { name, role, start } = variable;
    const to = positions[index] ?? start;
    if (to === start) return [];
    const reasons = (solution.reasons.get(index) ?? []).map(nameRule);
    return [{ name, role, from: start, to, before: variable.errorAt(start), after: variable.errorAt(to), reasons }];
  });
  const unmet = problem.rules.filter(rule => !holds(rule, problem.limits, variable => positions[variable] ?? 0)).map(nameRule);
  const price = problem.variables.reduce((sum, variable, index) => sum + priceOf(variable, positions[index] ?? variable.start), 0);
  return {
    method,
    moves,
    price,
    isOptimal: solution.isOptimal,
    unmet,
    positions: moves.length === 0 ? undefined : mapPositions(problem, positions, plan),
  };
}

const nameRule = ({ kind, node, opType }: PositionRule): Pick<PositionRule, 'kind' | 'node' | 'opType'> => ({ kind, node, opType });

/** Of all tensors, moved or not, so that no range is searched again. */
function mapPositions({ tensors, variables }: FoundProblem, positions: readonly number[], plan: QuantizationPlan): RefinedPositions {
  const widened = new Set(plan.weights.flatMap(weight => (weight.widened ? [weight.value] : [])));
  const found = { tensors: new Map<ValueId, number>(), biases: new Map<ValueId, number>() };
  for (const [index, { value, role }] of tensors.entries()) {
    const [to, variable] = [positions[index], variables[index]];
    if (to === undefined || variable === undefined || variable.isFixed) continue;
    // A scale that its bias widened is widened again for the positions of the plan.
    if (to === variable.start && widened.has(value)) continue;
    (role === 'bias' ? found.biases : found.tensors).set(value, to);
  }
  return found;
}
