/** refine: joint against brute force over all positions. */
import { planQuantization } from '../../../../src/quant/placement/plan-quantization.js';
import { findPositionProblem } from '../../../../src/quant/positions/find-problem.js';
import { refineJointly } from '../../../../src/quant/positions/joint/refine-jointly.js';
import { type PositionProblem, type PositionVariable, priceOf } from '../../../../src/quant/positions/problem/position-problem.js';
import { holds, type PositionRule } from '../../../../src/quant/positions/problem/position-rule.js';
import { refineInOrder } from '../../../../src/quant/positions/refine-in-order.js';
import { DEFAULT_OP_TYPES, PRESETS } from '../../../../src/quant/scheme/scheme.js';
import { dpuLimits, positionGraph, seeded } from '../../../support/position-graphs.js';

const limits = dpuLimits();
/** Positions farther than this from the start cost more than any solution. */
const REACH = 3;
const FAR = 1e6;

/** Prices of a table, so that brute force over −3 … 3 finds what there is to find. */
function variable(name: string, start: number, random: () => number, isFixed = false): PositionVariable {
  const errors = Array.from({ length: 2 * REACH + 1 }, (_, i) => (i === REACH ? 0 : random()));
  return {
    name,
    role: 'activation',
    start,
    isFixed,
    errorAt: position => errors[position - start + REACH] ?? FAR * Math.abs(position - start),
  };
}

/** Up to seven variables and four rules; starts near the bounds, so that steps of three reach them. */
function randomProblem(seed: number): PositionProblem {
  const random = seeded(seed);
  const int = (low: number, high: number): number => low + Math.floor(random() * (high - low + 1));
  const count = int(3, 4);
  const variables = Array.from({ length: count }, (_, i) => variable(`v${i}`, int(4, 10), random, random() < 0.1));
  const any = (): number => int(0, count - 1);
  const make = (): PositionRule => {
    const of = { node: 'n' };
    const kinds = [
      'shift-cut',
      'shift-bias',
      'shift-read',
      'add',
      'mul',
      'shift-swish',
      'shift-hard-sigmoid',
      'concat',
      'average',
    ] as const;
    const kind = kinds[int(0, kinds.length - 1)];
    const [a, b, c, d] = [any(), any(), any(), any()];
    if (kind === 'shift-cut') return { ...of, opType: 'Conv', kind, weight: a, input: b, output: c };
    if (kind === 'shift-bias') return { ...of, opType: 'Conv', kind, weight: a, input: b, output: c, bias: d, isLeaky: random() < 0.5 };
    if (kind === 'shift-read') return { ...of, opType: 'Add', kind, inputs: [a, b] };
    if (kind === 'add') return { ...of, opType: 'Add', kind: 'shift-write', inputs: [a, b], output: c };
    if (kind === 'shift-swish') return { ...of, opType: 'Mul', kind, inputs: [a, b], output: c };
    if (kind === 'shift-hard-sigmoid') return { ...of, opType: 'HardSigmoid', kind, input: a, output: b };
    if (kind === 'concat')
      return { ...of, opType: 'Concat', kind: 'position-aligned', inputs: [a, b], output: c, isCopy: a !== c && b !== c };
    if (kind === 'average') return { ...of, opType: 'AveragePool', kind: 'position-aligned', inputs: [a], output: b, isCopy: false };
    return { ...of, opType: 'Mul', kind: 'shift-write', inputs: [a, b], output: c };
  };
  // Narrow bounds, so that many of the rules are violated at the start.
  return {
    variables,
    rules: Array.from({ length: int(1, 4) }, make),
    limits: { ...limits, cut: [2, 6], bias: [0, 5], read: 2, addWrite: [-2, 2], mulWrite: [3, 9], swish: [4, 8] },
  };
}

/** Outputs of a Concat are copies: rounding again costs nothing. */
function copiesOf({ rules }: Pick<PositionProblem, 'rules'>): ReadonlySet<number> {
  return new Set(rules.flatMap(rule => (rule.kind === 'position-aligned' && rule.isCopy ? [rule.output] : [])));
}

/** Copies have no price, so that they go farther: starts are 4 … 10. */
const COPY_REACH = 9;

function costOf({ variables, rules }: PositionProblem, positions: readonly number[]): number {
  const copies = copiesOf({ rules });
  return variables.reduce((sum, one, index) => {
    const position = positions[index] ?? one.start;
    if (one.isFixed) return sum;
    return sum + (copies.has(index) ? 0 : priceOf(one, position)) + 1e-9 * Math.abs(position - one.start);
  }, 0);
}

/** The least cost over all positions within reach; undefined if none satisfies all rules. */
function bruteForce(problem: PositionProblem): number | undefined {
  const positions = problem.variables.map(({ start }) => start);
  const copies = copiesOf(problem);
  let best: number | undefined;
  const visit = (index: number): void => {
    const one = problem.variables[index];
    if (one === undefined) {
      if (!problem.rules.every(rule => holds(rule, problem.limits, at => positions[at] ?? 0))) return;
      const cost = costOf(problem, positions);
      if (best === undefined || cost < best) best = cost;
      return;
    }
    const reach = one.isFixed ? 0 : copies.has(index) ? COPY_REACH : REACH;
    for (let step = -reach; step <= reach; step++) {
      positions[index] = one.start + step;
      visit(index + 1);
    }
  };
  visit(0);
  return best;
}

describe('refine: joint', () => {
  it('costs what the best of all positions costs, on 200 random problems', () => {
    let solved = 0;
    let moved = 0;
    for (let seed = 1; seed <= 200; seed++) {
      const problem = randomProblem(seed);
      const best = bruteForce(problem);
      if (best === undefined) continue;
      const { positions, isOptimal } = refineJointly(problem);
      expect({ seed, isOptimal }).toEqual({ seed, isOptimal: true });
      expect({ seed, unmet: problem.rules.filter(rule => !holds(rule, problem.limits, at => positions[at] ?? 0)) }).toEqual({
        seed,
        unmet: [],
      });
      expect({ seed, excess: Math.abs(costOf(problem, positions) - best) < 1e-12 ? 0 : costOf(problem, positions) - best }).toEqual({
        seed,
        excess: 0,
      });
      solved++;
      if (best > 0) moved++;
    }
    expect(solved).toBeGreaterThan(100);
    expect(moved).toBeGreaterThan(60);
  });

  const scheme = { ...PRESETS.xint8, opTypes: [...DEFAULT_OP_TYPES, 'Sub', 'HardSigmoid'] };
  const problemOf = (seed: number): PositionProblem => {
    const { model, observations } = positionGraph(seed, { nodes: 8, spread: 5 });
    const plan = planQuantization(model.graph, { scheme, observations, excluded: new Set() });
    return findPositionProblem(model.graph, plan, { limits, observations, settings: new Map() });
  };

  it('satisfies every rule of random graphs, and costs no more than the order of AMD Quark where that satisfies them', () => {
    let cheaper = 0;
    let unmetInOrder = 0;
    for (let seed = 101; seed <= 120; seed++) {
      const problem = problemOf(seed);
      const price = (positions: readonly number[]): number => costOf(problem, positions);
      const unmet = (positions: readonly number[]): number =>
        problem.rules.filter(rule => !holds(rule, problem.limits, at => positions[at] ?? 0)).length;
      const [joint, inOrder] = [refineJointly(problem), refineInOrder(problem)];
      expect({ seed, unmet: unmet(joint.positions), isOptimal: joint.isOptimal }).toEqual({ seed, unmet: 0, isOptimal: true });
      if (unmet(inOrder.positions) > 0) unmetInOrder++;
      else {
        expect(price(joint.positions)).toBeLessThanOrEqual(price(inOrder.positions) + 1e-12);
        if (price(joint.positions) < price(inOrder.positions) - 1e-9) cheaper++;
      }
    }
    expect(cheaper).toBeGreaterThan(0);
    expect(unmetInOrder).toBeGreaterThan(0);
  });

  it('gives the same positions for any order of the nodes', () => {
    for (let seed = 201; seed <= 206; seed++) {
      const problem = problemOf(seed);
      const random = seeded(seed);
      const shuffled = {
        ...problem,
        rules: [...problem.rules]
          .map(rule => ({ rule, at: random() }))
          .sort((a, b) => a.at - b.at)
          .map(one => one.rule),
      };
      expect(refineJointly(shuffled).positions).toEqual(refineJointly(problem).positions);
    }
  });

  it('leaves what the user fixed, and moves the others around it', () => {
    const random = seeded(7);
    const [input, weight, output] = [variable('i', 10, random), variable('w', 10, random), variable('o', 1, random, true)];
    const rule: PositionRule = { node: 'n', opType: 'Conv', kind: 'shift-cut', weight: 1, input: 0, output: 2 };
    const { positions } = refineJointly({ variables: [input, weight, output], rules: [rule], limits });
    expect(positions[2]).toBe(1);
    expect((positions[0] ?? 0) + (positions[1] ?? 0)).toBe(17);
  });

  it('keeps positions, and does not claim an optimum, where fixed ones contradict each other', () => {
    const random = seeded(8);
    const variables = [variable('a', 0, random, true), variable('b', 20, random, true), variable('c', 3, random)];
    const rules: PositionRule[] = [
      { node: 'n', opType: 'Add', kind: 'shift-read', inputs: [0, 1] },
      { node: 'm', opType: 'Add', kind: 'shift-read', inputs: [1, 2] },
    ];
    expect(refineJointly({ variables, rules, limits }).positions).toEqual([0, 20, 13]);
  });
});
