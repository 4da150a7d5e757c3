/** Collects, node by node in graph order, which tensors to quantize and whose parameters they take. The parameters are computed later. */
import { getDefined } from '../../base/invariant.js';
import { getValue, indexUses, type Use } from '../../onnx/ir/edit.js';
import type { Constant, Graph, Node, NodeId, ValueId } from '../../onnx/ir/model.js';
import type { RawTensor } from '../../tensor/tensor.js';
import { scaleAt } from '../integers/power-of-two.js';
import { coveredRange, middleOf, type QParams, type Range, type TensorQParams } from '../integers/qparams.js';
import type { IntegerRange, IntegerScheme } from '../integers/quantized-dtype.js';
import { chooseQParams } from '../range/range.js';
import type { Chosen, Observation, RangeMethod } from '../range/range-method.js';
import type { WeightRangeMethod } from '../range/weight-range.js';
import type { QuantizationScheme } from '../scheme/scheme.js';
import { isFixedRange, NO_SETTINGS, type TensorSettings } from '../scheme/tensor-settings.js';

/** A float32 constant quantized as a weight (for example int8 symmetric) or as an activation (for example a constant operand of Add). */
export interface PendingWeight {
  readonly role: 'weight' | 'activation';
  /** The axis of output channels, if there is one. */
  readonly axis: number | undefined;
}

/** The parameters of a constant. */
export interface WeightParameters {
  readonly qparams: TensorQParams;
  /** Where the integers saturate. */
  readonly limits: IntegerRange;
  /** 'set' if the user set the range or scale. */
  readonly method: WeightRangeMethod | 'set';
}

export interface PendingBias {
  readonly node: NodeId;
  readonly bias: ValueId;
  readonly input: ValueId;
  readonly weight: ValueId;
}

/** An activation function that saturation replaces: `from` is no longer computed, and its producer computes `to`. */
export interface Removal {
  readonly node: NodeId;
  readonly from: ValueId;
  readonly to: ValueId;
}

/** An activation function fused with the operator before it: `from` between them is not quantized. */
export interface Fusion {
  readonly node: NodeId;
  readonly from: ValueId;
}

/** The inputs of planning. */
export interface DraftRequest {
  readonly scheme: QuantizationScheme;
  /** The observation of each float32 activation. */
  readonly observations: ReadonlyMap<ValueId, Observation>;
  /** Values that stay in float. */
  readonly excludedValues: ReadonlySet<ValueId>;
  readonly settings: ReadonlyMap<ValueId, TensorSettings>;
  /** Constants that are weights whichever node reads them first, with their axis of output channels. */
  readonly tied: ReadonlyMap<ValueId, number | undefined>;
  /** Positions that replace those of the range methods. */
  readonly positions?: RefinedPositions;
}

/** Positions of power-of-two scales with zero in the middle of the integers. */
export interface RefinedPositions {
  /** Of activations, and of constants that are not biases. */
  readonly tensors: ReadonlyMap<ValueId, number>;
  readonly biases: ReadonlyMap<ValueId, number>;
}

export interface Draft extends DraftRequest {
  readonly graph: Graph;
  readonly uses: ReadonlyMap<ValueId, readonly Use[]>;
  /** Activation → the activation or constant whose parameters it takes; undefined if it has a range of its own. In graph order. */
  readonly activations: Map<ValueId, ValueId | undefined>;
  readonly weights: Map<ValueId, PendingWeight>;
  readonly biases: Map<string, PendingBias>;
  readonly removals: Removal[];
  readonly fusions: Fusion[];
  /** Cache of chosen parameters. */
  readonly chosen: Map<ValueId, Chosen>;
  /** Cache of the parameters of constants, before a bias widens them. */
  readonly parameters: Map<ValueId, WeightParameters>;
}

export function makeDraft(graph: Graph, request: DraftRequest): Draft {
  return {
    ...request,
    graph,
    uses: indexUses(graph),
    activations: new Map(),
    weights: new Map(),
    biases: new Map(),
    removals: [],
    fusions: [],
    chosen: new Map(),
    parameters: new Map(),
  };
}

/** The constant `id` if it is float32. */
export function findFloatConstant(graph: Graph, id: ValueId | undefined): RawTensor | undefined {
  const constant: Constant | undefined = id === undefined ? undefined : graph.values.get(id)?.constant;
  return constant?.dtype === 'float32' ? constant : undefined;
}

export function isQuantized(draft: Draft, id: ValueId | undefined): boolean {
  return id !== undefined && (draft.activations.has(id) || draft.weights.has(id));
}

export function settingsOf({ settings }: Pick<DraftRequest, 'settings'>, id: ValueId): TensorSettings {
  return settings.get(id) ?? NO_SETTINGS;
}

/** The integers of an activation: those of the scheme with the tensor's own settings. */
export function integersOf(request: Pick<DraftRequest, 'scheme' | 'settings'>, id: ValueId): IntegerScheme {
  return { ...request.scheme.activation, ...settingsOf(request, id).integers };
}

/** The range method of an activation; undefined if its range or scale is fixed. */
export function methodOf(request: Pick<DraftRequest, 'scheme' | 'settings'>, id: ValueId): RangeMethod | undefined {
  const { range, qparams } = settingsOf(request, id);
  if (qparams !== undefined || (range !== undefined && isFixedRange(range))) return undefined;
  return range ?? request.scheme.range;
}

/** The parameters of an activation with a range of its own. @throws QuantError as chooseQParams. */
export function chooseFor(draft: Draft, id: ValueId): Chosen {
  const known = draft.chosen.get(id);
  if (known !== undefined) return known;
  const chosen = choose(draft, id);
  draft.chosen.set(id, chosen);
  return chosen;
}

function choose(draft: Draft, id: ValueId): Chosen {
  const integers = integersOf(draft, id);
  const position = draft.positions?.tensors.get(id);
  const qparams = position === undefined ? settingsOf(draft, id).qparams : centeredAt(position, integers);
  if (qparams !== undefined) return { qparams, range: coveredRange(qparams, integers.dtype) };
  return chooseQParams(getDefined(draft.observations.get(id), 'observation'), methodOf(draft, id) ?? draft.scheme.range, integers);
}

/** Scale 2^−position, zero in the middle. */
export function centeredAt(position: number, integers: IntegerScheme): QParams {
  return { scale: scaleAt(position), zeroPoint: middleOf(integers) };
}

/** Adds an activation with a range of its own, or a constant in the role of an activation, unless it is tied to a weight. Values that are not float32 are ignored. */
export function addActivation(draft: Draft, id: ValueId | undefined): void {
  if (id === undefined || isQuantized(draft, id) || draft.excludedValues.has(id)) return;
  if (getValue(draft.graph, id).constant !== undefined) {
    if (findFloatConstant(draft.graph, id) !== undefined)
      draft.weights.set(id, draft.tied.has(id) ? { role: 'weight', axis: draft.tied.get(id) } : { role: 'activation', axis: undefined });
    return;
  }
  if (draft.observations.has(id)) draft.activations.set(id, undefined);
}

/** Adds `id` with the parameters of `provider`, an activation or a constant that is quantized as one. */
export function addShared(draft: Draft, id: ValueId | undefined, provider: ValueId | undefined): void {
  if (id === undefined || provider === undefined || !draft.observations.has(id) || draft.excludedValues.has(id)) return;
  if (draft.activations.has(provider) || draft.weights.get(provider)?.role === 'activation') draft.activations.set(id, provider);
}

/** Adds a constant as a weight, per slice along `axis` if the scheme says so. A value that is not constant is added as an activation. */
export function addWeight(draft: Draft, id: ValueId | undefined, axis: number | undefined): void {
  const isConstant = findFloatConstant(draft.graph, id) !== undefined;
  if (!isConstant) addActivation(draft, id);
  else if (id !== undefined && !isQuantized(draft, id) && !draft.excludedValues.has(id)) draft.weights.set(id, { role: 'weight', axis });
}

/** Adds the bias of `node`. A bias that several nodes read with different scales gets integers for each scale. */
export function addBias(draft: Draft, node: Node): void {
  const [input, weight, bias] = node.inputs;
  if (input === undefined || weight === undefined || bias === undefined || draft.excludedValues.has(bias)) return;
  if (findFloatConstant(draft.graph, bias) === undefined || !draft.weights.has(weight) || !draft.activations.has(input)) return;
  draft.biases.set(`${node.id}`, { node: node.id, bias, input, weight });
}

/**
 * Removes the Relu or Clip `node` if its producer can compute its output directly: the quantized range saturates at the same place.
 * That holds if the integers represent nothing outside `bounds`, within half a step.
 */
export function tryRemove(draft: Draft, node: Node, bounds: Range): boolean {
  const [from] = node.inputs;
  const [to] = node.outputs;
  if (from === undefined || to === undefined || !draft.observations.has(to) || draft.excludedValues.has(to)) return false;
  if (!isBetween(draft, from)) return false;
  const integers = integersOf(draft, to);
  const { qparams } = chooseFor(draft, to);
  const { low, high } = coveredRange(qparams, integers.dtype);
  const slack = qparams.scale / 2;
  if (integers.symmetric || low < bounds.low - slack || high > bounds.high + slack) return false;
  draft.activations.delete(from);
  draft.removals.push({ node: node.id, from, to });
  return true;
}

/** Operators that an NPU fuses with a following activation function; the list of AMD's quantizers. */
const FUSING: ReadonlySet<string> = new Set(['Add', 'Conv', 'ConvTranspose', 'Gemm', 'GlobalAveragePool', 'MatMul']);

/** Removes quantization between the activation function `node` and the operator before it, if nothing else reads that value. */
export function tryFuse(draft: Draft, node: Node): boolean {
  const [from] = node.inputs;
  if (from === undefined || !isBetween(draft, from)) return false;
  const producer = getValue(draft.graph, from).producer;
  const before = producer === undefined ? undefined : draft.graph.nodes.get(producer);
  if (before === undefined || !FUSING.has(before.opType)) return false;
  draft.activations.delete(from);
  draft.fusions.push({ node: node.id, from });
  return true;
}

/** Whether `id` has a range of its own, one reader, and is not a graph output. */
function isBetween({ graph, uses, activations }: Draft, id: ValueId): boolean {
  if (!activations.has(id) || activations.get(id) !== undefined) return false;
  return uses.get(id)?.length === 1 && !graph.outputs.includes(id) && !graph.inputs.includes(id);
}
