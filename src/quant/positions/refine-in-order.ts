/** Moves positions as AMD's quantizer does: rule by rule in its order, node by node, up to five times. */
import { getDefined } from '../../base/invariant.js';
import { POSITIONS } from '../integers/power-of-two.js';
import type { PositionProblem, PositionSolution } from './problem/position-problem.js';
import { type PositionRule, repairOf, type VariableIndex } from './problem/position-rule.js';

const LOOPS = 5;

/** Pools that AMD's quantizer aligns together. */
const POOLS: readonly string[] = ['MaxPool', 'AveragePool', 'GlobalAveragePool'];

/** Each entry goes over all nodes before the next one starts. `quiet`: its changes alone do not cause another loop. */
const ORDER: readonly { readonly of: (rule: PositionRule) => boolean; readonly quiet?: (rule: PositionRule) => boolean }[] = [
  { of: ({ kind, opType }) => kind === 'position-aligned' && opType === 'Concat' },
  { of: ({ kind, opType }) => kind === 'position-aligned' && POOLS.includes(opType) },
  { of: ({ kind, opType }) => kind === 'position-aligned' && opType === 'Pad' },
  { of: ({ kind, opType }) => kind === 'position-aligned' && opType === 'Slice' },
  { of: ({ kind }) => kind === 'shift-read' },
  { of: ({ kind, opType }) => kind === 'shift-write' && opType !== 'Sub', quiet: ({ opType }) => opType === 'Mul' },
  { of: ({ kind, opType }) => kind === 'shift-cut' && opType !== 'ConvTranspose' },
  { of: ({ kind, opType }) => kind === 'shift-bias' && opType !== 'ConvTranspose' },
  { of: ({ kind }) => kind === 'shift-hard-sigmoid' },
  { of: ({ kind }) => kind === 'shift-swish' },
];

const clamp = (position: number): number => Math.min(Math.max(position, POSITIONS.low), POSITIONS.high);

/**
 * Costs do not count. The result depends on the order of the nodes, and rules can stay violated: when two nodes pull at one tensor, and for operators that the order leaves out.
 * @see amd/Quark, quark/onnx, refine.py (adjust_quantize_info).
 */
export function refineInOrder({ variables, rules, limits }: PositionProblem): PositionSolution {
  const positions = variables.map(({ start }) => start);
  const at = (variable: VariableIndex): number => getDefined(positions[variable], 'position');
  const reasons = new Map<VariableIndex, PositionRule[]>();
  for (let loop = 0, changes = true; changes && loop < LOOPS; loop++) {
    changes = false;
    for (const { of, quiet } of ORDER) {
      for (const rule of rules.filter(of)) {
        for (const { variable, to } of repairOf(rule, limits, at)) {
          if (variables[variable]?.isFixed === true) continue;
          positions[variable] = clamp(to);
          if (quiet?.(rule) !== true) changes = true;
          const known = reasons.get(variable) ?? [];
          if (!known.includes(rule)) reasons.set(variable, [...known, rule]);
        }
      }
    }
  }
  return { positions, isOptimal: undefined, reasons };
}
