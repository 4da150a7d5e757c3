/** Overrides: settings for selected tensors. Selectors are resolved on the float model, before anything is renamed or removed. */
import { assertNever } from '../../base/assert-never.js';
import type { Graph, Node, NodeId, Value, ValueId } from '../../onnx/ir/model.js';
import { OnnxError } from '../../onnx/ir/onnx-error.js';
import { selectMatching } from '../../onnx/rewrite/matches.js';
import type { NodeSelector } from '../../onnx/selection/node-selector.js';
import { selectNodes } from '../../onnx/selection/select-nodes.js';
import { selectValues } from '../../onnx/selection/select-values.js';
import type { Range } from '../integers/qparams.js';
import type { IntegerScheme } from '../integers/quantized-dtype.js';
import type { RangeMethod } from '../range/range-method.js';
import type { BiasScheme } from './scheme.js';

/** Tensors by name; `*` matches any characters. At least one must match, unless `matches: any` is set. */
export interface TensorSelector {
  readonly tensor: string;
  readonly matches?: 'any';
}

/** Nodes or tensors that stay in float. */
export type Exclusion = NodeSelector | { readonly select: NodeSelector; readonly matches: 'any' } | TensorSelector;

/** Tensors of the nodes that `node` selects: their outputs, unless `of` says otherwise. */
export interface NodeTensorSelector {
  readonly node: NodeSelector;
  readonly of?: TensorRole;
  readonly matches?: 'any';
}

export type TensorRole = 'outputs' | 'inputs' | 'weights' | 'bias';

export type Override = (TensorSelector | NodeTensorSelector) & { readonly set: OverrideKnobs };

/** Settings of a tensor. An absent member keeps the value of the scheme, or of an earlier override. */
export interface OverrideKnobs extends Partial<IntegerScheme> {
  readonly perChannel?: boolean;
  readonly range?: RangeMethod | Range;
  readonly scale?: number;
  readonly zeroPoint?: number;
  readonly bias?: Partial<BiasScheme>;
}

/** @throws OnnxError `selector-matches-nothing`. */
export function findExcluded(
  graph: Graph,
  exclusions: readonly Exclusion[],
): { readonly nodes: ReadonlySet<NodeId>; readonly values: ReadonlySet<ValueId> } {
  const nodes = new Set<NodeId>();
  const values = new Set<ValueId>();
  for (const exclusion of exclusions) {
    if (isTensorSelector(exclusion)) for (const { id } of findTensors(graph, exclusion)) values.add(id);
    else for (const { id } of findNodes(graph, exclusion)) nodes.add(id);
  }
  return { nodes, values };
}

function isTensorSelector(exclusion: Exclusion): exclusion is TensorSelector {
  return typeof exclusion === 'object' && 'tensor' in exclusion;
}

function findNodes(graph: Graph, exclusion: Exclude<Exclusion, TensorSelector>): readonly Node[] {
  if (typeof exclusion === 'object' && 'select' in exclusion) return selectMatching(graph, exclusion.select, exclusion.matches);
  return selectNodes(graph, exclusion);
}

/** The values that an override selects, in the order of the table. @throws OnnxError `selector-matches-nothing`. */
export function findOverridden(graph: Graph, override: Override): readonly Value[] {
  if ('tensor' in override) return findTensors(graph, override);
  const { node: selector, of: role = 'outputs', matches } = override;
  const nodes = matches === 'any' ? selectMatching(graph, selector, matches) : selectNodes(graph, selector);
  const ids = new Set(nodes.flatMap(node => tensorsOf(graph, node, role)));
  if (ids.size === 0 && matches !== 'any') {
    throw new OnnxError('selector-matches-nothing', `the nodes that match ${JSON.stringify(selector)} have no ${role}`, {
      help: 'set `of` to outputs, inputs, weights or bias',
    });
  }
  return [...graph.values.values()].filter(({ id }) => ids.has(id));
}

function findTensors(graph: Graph, { tensor, matches }: TensorSelector): readonly Value[] {
  try {
    return selectValues(graph, tensor);
  } catch (error) {
    if (matches === 'any' && error instanceof OnnxError && error.code === 'selector-matches-nothing') return [];
    throw error;
  }
}

const BIAS_INPUT = 2;
const WITH_BIAS: ReadonlySet<string> = new Set([
  'BatchNormalization',
  'Conv',
  'ConvTranspose',
  'Gemm',
  'InstanceNormalization',
  'LayerNormalization',
]);

function tensorsOf(graph: Graph, node: Node, role: TensorRole): readonly ValueId[] {
  const isConstant = (id: ValueId): boolean => graph.values.get(id)?.constant !== undefined;
  const bias = WITH_BIAS.has(node.opType) ? node.inputs[BIAS_INPUT] : undefined;
  const present = (ids: Node['inputs']): ValueId[] => ids.filter(id => id !== undefined);
  switch (role) {
    case 'outputs':
      return present(node.outputs);
    case 'inputs':
      return present(node.inputs).filter(id => !isConstant(id));
    case 'weights':
      return present(node.inputs).filter(id => isConstant(id) && id !== bias);
    case 'bias':
      return present([bias]);
    default:
      return assertNever(role);
  }
}
