/** Joins variables that must have one position to classes, whose cost is the sum of their members'. */
import { getDefined } from '../../../base/invariant.js';
import { type PositionProblem, priceOf } from '../problem/position-problem.js';
import { type PositionRule, type VariableIndex, variablesOf } from '../problem/position-rule.js';

/** Prefers fewer steps among positions of equal price. */
const STEP_PRICE = 1e-9;

export interface PositionClass {
  readonly members: readonly VariableIndex[];
  /** The position of its fixed members. */
  readonly fixed: number | undefined;
  /** Mean start of the members, rounded down: the middle of the positions that are tried. */
  readonly middle: number;
  readonly costAt: (position: number) => number;
}

export interface Classes {
  readonly classes: readonly PositionClass[];
  readonly classOf: (variable: VariableIndex) => number;
  /** Rules between classes. */
  readonly rules: readonly PositionRule[];
}

/** Alignments between variables that are fixed at different positions cannot hold, and are left out. */
export function mergeAligned({ variables, rules }: PositionProblem): Classes {
  const parents = variables.map((_, index) => index);
  const find = (index: VariableIndex): VariableIndex => {
    let root = index;
    while (parents[root] !== root) root = getDefined(parents[root], 'parent');
    return root;
  };
  const fixed = new Map(variables.flatMap(({ isFixed, start }, index) => (isFixed ? [[index, start] as const] : [])));
  const moved = new Set<VariableIndex>();
  const others: PositionRule[] = [];
  for (const rule of rules) {
    if (rule.kind !== 'position-aligned') {
      others.push(rule);
      continue;
    }
    const roots = [...new Set(variablesOf(rule).map(find))];
    const known = [...new Set(roots.flatMap(root => fixed.get(root) ?? []))];
    if (known.length > 1) continue;
    const [root = 0, ...rest] = roots;
    for (const other of rest) parents[other] = root;
    if (known[0] !== undefined) fixed.set(root, known[0]);
    if (rule.isCopy) moved.add(rule.output);
  }
  const members = new Map<VariableIndex, VariableIndex[]>();
  for (const index of variables.keys()) members.set(find(index), [...(members.get(find(index)) ?? []), index]);
  const indices = new Map([...members.keys()].map((root, index) => [root, index]));
  return {
    classes: [...members].map(([root, own]) => makeClass(variables, own, moved, fixed.get(root))),
    classOf: variable => getDefined(indices.get(find(variable)), 'class'),
    rules: others,
  };
}

function makeClass(
  variables: PositionProblem['variables'],
  members: readonly VariableIndex[],
  moved: ReadonlySet<VariableIndex>,
  fixed: number | undefined,
): PositionClass {
  const own = members.map(index => ({ variable: getDefined(variables[index], 'variable'), isMoved: moved.has(index) }));
  const known = new Map<number, number>();
  const costAt = (position: number): number => {
    const cost =
      known.get(position) ??
      own.reduce((total, { variable, isMoved }) => {
        const price = isMoved ? 0 : priceOf(variable, position);
        return total + price + STEP_PRICE * Math.abs(position - variable.start);
      }, 0);
    known.set(position, cost);
    return cost;
  };
  const middle = Math.floor(own.reduce((total, { variable }) => total + variable.start, 0) / own.length);
  return { members, fixed, middle, costAt };
}
