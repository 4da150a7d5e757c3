/** The rules that tie positions together: for each its tensors, whether it holds, and the change with which AMD's quantizer repairs it. */
import { assertNever } from '../../../base/assert-never.js';
import type { PositionLimits } from './position-limits.js';

/** A number of a variable in the problem. */
export type VariableIndex = number;

interface OfNode {
  /** Name and operator of the node. */
  readonly node: string;
  readonly opType: string;
}

export type PositionRule = OfNode &
  (
    | { readonly kind: 'shift-cut'; readonly weight: VariableIndex; readonly input: VariableIndex; readonly output: VariableIndex }
    | {
        readonly kind: 'shift-bias';
        readonly weight: VariableIndex;
        readonly input: VariableIndex;
        readonly output: VariableIndex;
        readonly bias: VariableIndex;
        /** A LeakyRelu follows, so that the shift cannot be negative. */
        readonly isLeaky: boolean;
      }
    | { readonly kind: 'shift-read'; readonly inputs: readonly VariableIndex[] }
    | { readonly kind: 'shift-write'; readonly inputs: readonly VariableIndex[]; readonly output: VariableIndex }
    | { readonly kind: 'shift-swish'; readonly inputs: readonly VariableIndex[]; readonly output: VariableIndex }
    | { readonly kind: 'shift-hard-sigmoid'; readonly input: VariableIndex; readonly output: VariableIndex }
    | {
        readonly kind: 'position-aligned';
        readonly inputs: readonly VariableIndex[];
        readonly output: VariableIndex;
        /** The output has only elements of these inputs: at one position, rounding again loses nothing. */
        readonly isCopy: boolean;
      }
  );

export type RuleKind = PositionRule['kind'];

/** The variables of a rule, each once. */
export function variablesOf(rule: PositionRule): readonly VariableIndex[] {
  switch (rule.kind) {
    case 'shift-cut':
      return unique([rule.weight, rule.input, rule.output]);
    case 'shift-bias':
      return unique([rule.weight, rule.input, rule.output, rule.bias]);
    case 'shift-read':
      return unique(rule.inputs);
    case 'shift-hard-sigmoid':
      return unique([rule.input, rule.output]);
    case 'shift-write':
    case 'shift-swish':
    case 'position-aligned':
      return unique([...rule.inputs, rule.output]);
    default:
      return assertNever(rule);
  }
}

const unique = (indices: readonly VariableIndex[]): readonly VariableIndex[] => [...new Set(indices)];

/** A new position of one variable. */
export interface Change {
  readonly variable: VariableIndex;
  readonly to: number;
}

type PositionAt = (variable: VariableIndex) => number;

export function holds(rule: PositionRule, limits: PositionLimits, at: PositionAt): boolean {
  return repairOf(rule, limits, at).length === 0;
}

/** The changes with which AMD's quantizer repairs the rule; none if it holds. @see amd/Quark, quark/onnx, refine.py. */
export function repairOf(rule: PositionRule, limits: PositionLimits, at: PositionAt): readonly Change[] {
  switch (rule.kind) {
    case 'shift-cut': {
      const { weight, input, output } = rule;
      const cut = at(weight) + at(input) - at(output);
      return changed(weight, at(weight), at(weight) + within(cut, limits.cut) - cut);
    }
    case 'shift-bias': {
      const { weight, input, bias } = rule;
      const shift = at(weight) + at(input) - at(bias);
      return changed(bias, at(bias), at(bias) + shift - within(shift, biasBounds(rule, limits, at)));
    }
    case 'shift-read':
      return repairRead(rule.inputs, limits.read, at);
    case 'shift-write': {
      const value = rule.opType === 'Mul' ? sum(rule.inputs, at) : Math.min(...rule.inputs.map(at));
      return repairOutput(rule.output, value, rule.opType === 'Mul' ? limits.mulWrite : limits.addWrite, at);
    }
    case 'shift-swish':
      return limits.swish === undefined ? [] : repairOutput(rule.output, sum(rule.inputs, at), limits.swish, at);
    case 'shift-hard-sigmoid':
      return limits.hardSigmoid === undefined ? [] : repairHardSigmoid(rule, limits.hardSigmoid, at);
    case 'position-aligned': {
      const lowest = Math.min(at(rule.output), ...rule.inputs.map(at));
      return [rule.output, ...rule.inputs].flatMap(variable => changed(variable, at(variable), lowest));
    }
    default:
      return assertNever(rule);
  }
}

const sum = (inputs: readonly VariableIndex[], at: PositionAt): number => inputs.reduce((total, input) => total + at(input), 0);
const within = (value: number, [low, high]: readonly [number, number]): number => Math.min(Math.max(value, low), high);
const changed = (variable: VariableIndex, from: number, to: number): readonly Change[] => (from === to ? [] : [{ variable, to }]);

function biasBounds(
  { weight, input, output, isLeaky }: PositionRule & { readonly kind: 'shift-bias' },
  { bias: [low, high], cut: [, greatestCut] }: PositionLimits,
  at: PositionAt,
): readonly [number, number] {
  const cut = at(weight) + at(input) - at(output);
  return [isLeaky ? 0 : Math.min(low, cut - greatestCut), high];
}

/** The input with the largest position comes down: the first one, if several have it. */
function repairRead(inputs: readonly VariableIndex[], read: number, at: PositionAt): readonly Change[] {
  const lowest = Math.min(...inputs.map(at));
  const highest = Math.max(...inputs.map(at));
  const variable = inputs.find(input => at(input) === highest);
  return variable === undefined || highest - lowest <= read ? [] : [{ variable, to: lowest + read }];
}

/** `value` − o within `bounds`. */
function repairOutput(output: VariableIndex, value: number, bounds: readonly [number, number], at: PositionAt): readonly Change[] {
  return changed(output, at(output), value - within(value - at(output), bounds));
}

/** log₂ of the unit in which a DPU holds the slope: 2731/2^14. */
const SLOPE_POSITION = 14;

function repairHardSigmoid(
  { input, output }: PositionRule & { readonly kind: 'shift-hard-sigmoid' },
  limits: NonNullable<PositionLimits['hardSigmoid']>,
  at: PositionAt,
): readonly Change[] {
  const i = within(at(input), limits.input);
  const o = Math.max(at(output), limits.output);
  const top = SLOPE_POSITION + i;
  return [...changed(input, at(input), i), ...changed(output, at(output), top - within(top - o, limits.shift))];
}
