/** What may a pass assume of an operator? Which give other results on each run, and which are there for a quantizer to read. */
import { getInt } from './attribute.js';
import type { Node, ValueId } from './model.js';

const RANDOM = new Set(['RandomNormal', 'RandomUniform', 'RandomNormalLike', 'RandomUniformLike', 'Multinomial', 'Bernoulli']);

/** A node of these is the model's statement of how a value is quantized: folding it would lose the scale. */
const QUANTIZERS = new Set(['QuantizeLinear', 'DequantizeLinear', 'DynamicQuantizeLinear']);

/** Does the node compute the same from the same inputs on every run? Unknown domains may not. */
export function isDeterministic(node: Node): boolean {
  return node.domain === '' && !RANDOM.has(node.opType) && !isTrainingDropout(node);
}

export function isQuantizer(node: Node): boolean {
  return QUANTIZERS.has(node.opType);
}

/** From opset 12 the third input, and before opset 7 the attribute `is_test`, make Dropout drop. */
function isTrainingDropout(node: Node): boolean {
  return node.opType === 'Dropout' && node.inputs[2] !== undefined;
}

/** Optional outputs that need not be computed where nothing reads them. Not those of BatchNormalization: that it has them means that it trains. */
const OPTIONAL_OUTPUTS: Readonly<Record<string, number>> = { Dropout: 1, MaxPool: 1, LayerNormalization: 1 };

/** The index from which a node's outputs may be left out. */
export function firstOptionalOutput(node: Node): number {
  return (node.domain === '' ? OPTIONAL_OUTPUTS[node.opType] : undefined) ?? Number.POSITIVE_INFINITY;
}

/** Does the node carry sub-graphs, which read values of the graphs around them? */
export function hasSubgraph(node: Node): boolean {
  for (const attribute of node.attributes.values()) if (attribute.kind === 'graph' || attribute.kind === 'graphs') return true;
  return false;
}

/** Is BatchNormalization in inference mode: fixed statistics, one output? */
export function isInferenceBatchNormalization(node: Node): boolean {
  return (
    getInt(node, 'training_mode', 0) === 0 &&
    node.outputs.every((output: ValueId | undefined, index) => index === 0 || output === undefined)
  );
}
