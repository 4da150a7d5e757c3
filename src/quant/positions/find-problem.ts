/** Reads variables and rules from a graph and the plan of its quantization. */
import { getFloat } from '../../onnx/ir/attribute.js';
import { getNode, getValue } from '../../onnx/ir/edit.js';
import type { Graph, Node, ValueId } from '../../onnx/ir/model.js';
import { findPosition } from '../integers/power-of-two.js';
import { type IntegerScheme, saturationRange } from '../integers/quantized-dtype.js';
import { findFloatConstant, integersOf, settingsOf } from '../placement/draft.js';
import type { ActivationPlan } from '../placement/plan-activations.js';
import type { BiasPlan, WeightPlan } from '../placement/plan-constants.js';
import type { QuantizationPlan } from '../placement/plan-quantization.js';
import { paramsAt } from '../range/choose-position.js';
import type { Observation } from '../range/range-method.js';
import { isFixedRange, type TensorSettings } from '../scheme/tensor-settings.js';
import { distributionOf } from '../sketch/distribution.js';
import { activationError, biasError, weightError } from './position-errors.js';
import type { PositionLimits } from './problem/position-limits.js';
import type { PositionProblem, PositionVariable } from './problem/position-problem.js';
import type { PositionRule, VariableIndex } from './problem/position-rule.js';

export interface PositionContext {
  readonly limits: PositionLimits;
  /** Calibration data, before the planner adjusts it. */
  readonly observations: ReadonlyMap<ValueId, Observation>;
  readonly settings: ReadonlyMap<ValueId, TensorSettings>;
}

/** The tensor of a variable: of activations the one whose parameters others share. */
export interface VariableTensor {
  readonly value: ValueId;
  readonly role: PositionVariable['role'];
}

export interface FoundProblem extends PositionProblem {
  /** By variable. */
  readonly tensors: readonly VariableTensor[];
}

/**
 * Rules are for tensors of 8 bits with one power of two as scale; others have no variable, and their rules are left out:
 * wider types run elsewhere, and biases at the scale of the products follow it.
 */
export function findPositionProblem(graph: Graph, plan: QuantizationPlan, context: PositionContext): FoundProblem {
  const found = [...listActivations(graph, plan, context), ...listWeights(graph, plan, context), ...listBiases(graph, plan, context)].sort(
    (a, b) => (a.variable.name < b.variable.name ? -1 : Number(a.variable.name > b.variable.name)),
  );
  const index = new Map(found.map(({ tensor }, at) => [keyOf(tensor), at]));
  const activations = new Set(plan.activations.map(({ value }) => value));
  const owners = new Map(plan.activations.map(({ value, sharedWith }) => [value, sharedWith ?? value]));
  const ownerKey = (id: ValueId): string => keyOf({ role: activations.has(id) ? 'activation' : 'weight', value: id });
  const tensors: TensorIndex = {
    tensor: id => (id === undefined ? undefined : index.get(ownerKey(owners.get(id) ?? id))),
    bias: id => (id === undefined ? undefined : index.get(`bias ${id}`)),
  };
  const nodes = [...graph.nodes.values()];
  const joins = new Map([...plan.fusions, ...plan.removals].map(({ from, node }) => [from, getNode(graph, node)]));
  const gates = new Set(nodes.flatMap(node => (node.opType === 'HardSigmoid' && isDpuSlope(node) ? (node.inputs[0] ?? []) : [])));
  const rules = nodes.flatMap(node => rulesOf(node, { joins, gates, limits: context.limits, tensors }));
  return { variables: found.map(one => one.variable), tensors: found.map(one => one.tensor), rules, limits: context.limits };
}

interface Found {
  readonly tensor: VariableTensor;
  readonly variable: PositionVariable;
}

const keyOf = ({ role, value }: VariableTensor): string => `${role} ${value}`;

function isWide({ dtype }: IntegerScheme): boolean {
  return dtype === 'int16' || dtype === 'uint16';
}

function isSet(settings: TensorSettings | undefined): boolean {
  return settings?.qparams !== undefined || (settings?.range !== undefined && isFixedRange(settings.range));
}

function listActivations(graph: Graph, plan: QuantizationPlan, context: PositionContext): readonly Found[] {
  const request = { scheme: plan.scheme, settings: context.settings };
  return plan.activations.flatMap((activation: ActivationPlan): readonly Found[] => {
    const { value, sharedWith, qparams, range } = activation;
    const start = findPosition(qparams.scale);
    const observation = context.observations.get(value);
    const integers = integersOf(request, value);
    // At other positions an asymmetric zero point would move with the range; positions are those of symmetric integers.
    if (sharedWith !== undefined || start === undefined || observation === undefined || !integers.symmetric || isWide(integers)) return [];
    const errorAt = activationError(observation, range, integers);
    const name = getValue(graph, value).name;
    const tensor = { value, role: 'activation' } as const;
    return [{ tensor, variable: { name, role: tensor.role, start, isFixed: isSet(context.settings.get(value)), errorAt } }];
  });
}

function listWeights(graph: Graph, plan: QuantizationPlan, context: PositionContext): readonly Found[] {
  return plan.weights.flatMap((weight: WeightPlan): readonly Found[] => {
    const { value, qparams, role, method } = weight;
    const [slice] = qparams.slices;
    const start = slice === undefined || qparams.slices.length !== 1 ? undefined : findPosition(slice.scale);
    const constant = findFloatConstant(graph, value);
    const own = settingsOf(context, value).integers;
    const scheme = {
      ...(role === 'weight' ? plan.scheme.weight : integersOf({ scheme: plan.scheme, settings: context.settings }, value)),
      ...own,
    };
    if (start === undefined || constant === undefined || !scheme.symmetric || isWide(scheme)) return [];
    const errorAt = weightError(constant, position => paramsAt(position, { low: 0, high: 0 }, scheme), saturationRange(scheme));
    const name = getValue(graph, value).name;
    const tensor = { value, role: 'weight' } as const;
    return [{ tensor, variable: { name, role: tensor.role, start, isFixed: method === 'set', errorAt } }];
  });
}

function listBiases(graph: Graph, plan: QuantizationPlan, context: PositionContext): readonly Found[] {
  const powers = outputPowers(graph, plan, context);
  return plan.biases.flatMap((plans: BiasPlan): readonly Found[] => {
    const { value, scales, dtype } = plans;
    const start = scales.length === 1 ? findPosition(scales[0] ?? 0) : undefined;
    const constant = findFloatConstant(graph, value);
    const scheme = { ...plan.scheme.bias, ...settingsOf(context, value).bias };
    if (start === undefined || constant === undefined || scheme.scale !== 'power-of-two' || dtype !== 'int8') return [];
    const tensor = { value, role: 'bias' } as const;
    const errorAt = biasError(constant, dtype, powers.get(value));
    return [{ tensor, variable: { name: getValue(graph, value).name, role: tensor.role, start, isFixed: false, errorAt } }];
  });
}

/** Mean square of the outputs that each bias is added to, of several the largest. */
function outputPowers(graph: Graph, plan: QuantizationPlan, { observations }: PositionContext): ReadonlyMap<ValueId, number> {
  const powers = new Map<ValueId, number>();
  for (const { nodes, value } of plan.biases) {
    for (const id of nodes) {
      const output = getNode(graph, id).outputs[0];
      const seen = output === undefined ? undefined : observations.get(output);
      if (seen?.kind !== 'seen') continue;
      const { squares, total } = distributionOf(seen.sketch);
      if (total > 0) powers.set(value, Math.max(powers.get(value) ?? 0, squares / total));
    }
  }
  return powers;
}

interface TensorIndex {
  /** Of an activation, or of a constant that is not a bias. */
  tensor(id: ValueId | undefined): VariableIndex | undefined;
  bias(id: ValueId | undefined): VariableIndex | undefined;
}

interface RuleContext {
  /** The activation function without Q and DQ before it, by the value that it reads. */
  readonly joins: ReadonlyMap<ValueId, Node>;
  /** Inputs of HardSigmoid. */
  readonly gates: ReadonlySet<ValueId>;
  readonly limits: PositionLimits;
  readonly tensors: TensorIndex;
}

function rulesOf(node: Node, context: RuleContext): readonly PositionRule[] {
  const { limits, tensors } = context;
  if (node.domain !== '') return [];
  const { end, readers } = endOf(node, context);
  const output = tensors.tensor(end);
  if (output === undefined) return node.opType === 'Add' || node.opType === 'Sub' ? readRule(node, tensors) : [];
  const of = { node: node.name, opType: node.opType };
  const given = node.inputs.filter(input => input !== undefined).map(tensors.tensor);
  const inputs = given.filter(index => index !== undefined);
  const isWhole = inputs.length === given.length;
  if (limits.aligned.includes(node.opType)) {
    const aligned = node.opType === 'Concat' ? inputs : given.slice(0, 1).filter(index => index !== undefined);
    if (aligned.every(index => index === output)) return [];
    const isCopy = COPIES.has(node.opType) && (node.opType !== 'Concat' || isWhole) && !aligned.includes(output);
    return [{ ...of, kind: 'position-aligned', inputs: aligned, output, isCopy }];
  }
  switch (node.opType) {
    case 'Conv':
    case 'ConvTranspose':
    case 'Gemm':
      return layerRules(node, output, readers.includes('LeakyRelu'), tensors);
    case 'Add':
      return isWhole ? [...readRule(node, tensors), { ...of, kind: 'shift-write', inputs, output }] : [];
    case 'Sub':
      return isWhole ? [...readRule(node, tensors), { ...of, kind: 'shift-write', inputs, output }] : [];
    case 'Mul': {
      if (!isWhole) return [];
      const write: PositionRule = { ...of, kind: 'shift-write', inputs, output };
      const isSwish = node.inputs.some(id => id !== undefined && context.gates.has(id));
      return isSwish && limits.swish !== undefined ? [write, { ...of, kind: 'shift-swish', inputs, output }] : [write];
    }
    case 'HardSigmoid': {
      const [input] = given;
      return input === undefined || !isDpuSlope(node) || limits.hardSigmoid === undefined
        ? []
        : [{ ...of, kind: 'shift-hard-sigmoid', input, output }];
    }
    default:
      return [];
  }
}

/** Aligned operators whose output elements are input elements. */
const COPIES: ReadonlySet<string> = new Set(['Concat', 'MaxPool', 'Pad', 'Slice']);

function readRule(node: Node, { tensor }: TensorIndex): readonly PositionRule[] {
  const inputs = node.inputs.map(tensor).filter(index => index !== undefined);
  return inputs.length === node.inputs.length ? [{ node: node.name, opType: node.opType, kind: 'shift-read', inputs }] : [];
}

function layerRules(node: Node, output: VariableIndex, isLeaky: boolean, tensors: TensorIndex): readonly PositionRule[] {
  const [input, weight] = [tensors.tensor(node.inputs[0]), tensors.tensor(node.inputs[1])];
  if (input === undefined || weight === undefined) return [];
  const of = { node: node.name, opType: node.opType, weight, input, output };
  const bias = tensors.bias(node.inputs[2]);
  return bias === undefined
    ? [{ ...of, kind: 'shift-cut' }]
    : [
        { ...of, kind: 'shift-cut' },
        { ...of, kind: 'shift-bias', bias, isLeaky },
      ];
}

/** The value that the node writes after activation functions without Q and DQ before them, and their operators. */
function endOf(
  { outputs: [first] }: Node,
  { joins }: RuleContext,
): { readonly end: ValueId | undefined; readonly readers: readonly string[] } {
  const readers: string[] = [];
  let end = first;
  for (let node = findJoin(joins, end); node !== undefined; node = findJoin(joins, end)) {
    readers.push(node.opType);
    end = node.outputs[0];
  }
  return { end, readers };
}

function findJoin(joins: RuleContext['joins'], id: ValueId | undefined): Node | undefined {
  return id === undefined ? undefined : joins.get(id);
}

const TOLERANCE = 1e-5;

/** The slope and offset that a DPU has. */
function isDpuSlope(node: Node): boolean {
  return Math.abs(getFloat(node, 'alpha', 0.2) - 1 / 6) < TOLERANCE && Math.abs(getFloat(node, 'beta', 0.5) - 0.5) < TOLERANCE;
}
