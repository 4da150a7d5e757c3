/** Properties of operators that passes rely on: determinism, quantization, optional outputs, subgraphs. */
import { getInt } from './attribute.js';
import type { Node, ValueId } from './model.js';

const RANDOM = new Set(['RandomNormal', 'RandomUniform', 'RandomNormalLike', 'RandomUniformLike', 'Multinomial', 'Bernoulli']);

/** Their results are sequences or optional values. */
const WITHOUT_TENSORS = new Set([
  'Optional',
  'SequenceConstruct',
  'SequenceEmpty',
  'SequenceErase',
  'SequenceInsert',
  'SequenceMap',
  'SplitToSequence',
]);

/** These nodes state how a value is quantized; folding them would lose the scale. */
const QUANTIZERS = new Set(['QuantizeLinear', 'DequantizeLinear', 'DynamicQuantizeLinear']);

/** Whether the node computes the same outputs from the same inputs on every run; false for unknown domains. */
export function isDeterministic(node: Node): boolean {
  return node.domain === '' && !RANDOM.has(node.opType) && !isTrainingDropout(node);
}

/** Whether the node gives sequences or optional values, by its operator. Others may pass one on that they get. */
export function givesNoTensors(node: Node): boolean {
  return node.domain === '' && WITHOUT_TENSORS.has(node.opType);
}

export function isQuantizer(node: Node): boolean {
  return QUANTIZERS.has(node.opType);
}

/** Dropout drops elements in training mode, which is the third input from opset 12 on. */
function isTrainingDropout(node: Node): boolean {
  return node.opType === 'Dropout' && node.inputs[2] !== undefined;
}

/** Index of the first optional output that can be dropped if unread. BatchNormalization is not listed: its optional outputs mean training mode. */
const OPTIONAL_OUTPUTS: Readonly<Record<string, number>> = { Dropout: 1, MaxPool: 1, LayerNormalization: 1 };

/** The index from which on unread outputs of a node can be dropped. */
export function firstOptionalOutput(node: Node): number {
  return (node.domain === '' ? OPTIONAL_OUTPUTS[node.opType] : undefined) ?? Number.POSITIVE_INFINITY;
}

/** Whether the node has subgraphs, which may read values of outer graphs. */
export function hasSubgraph(node: Node): boolean {
  for (const attribute of node.attributes.values()) if (attribute.kind === 'graph' || attribute.kind === 'graphs') return true;
  return false;
}

/** Whether a BatchNormalization is in inference mode: fixed statistics and one output. */
export function isInferenceBatchNormalization(node: Node): boolean {
  return (
    getInt(node, 'training_mode', 0) === 0 &&
    node.outputs.every((output: ValueId | undefined, index) => index === 0 || output === undefined)
  );
}
