/** Decides from a QDQ model alone whether float32 arithmetic gives its exact results for every input and every kernel implementation. */
import { MOVING_OPERATORS } from '../../onnx/analysis/moving-operators.js';
import { getString } from '../../onnx/ir/attribute.js';
import type { Graph, Model, Node } from '../../onnx/ir/model.js';
import { findDequantized, readNumbers } from '../qdq/dequantized.js';
import { boundsByNode } from './accumulator-bounds.js';

/** Operators that sum products. `boundsByNode` says which nodes are exact. */
const SUMS = new Set(['Conv', 'ConvTranspose', 'Gemm']);

/** Element-wise operators with two operands, also covered by `boundsByNode`. */
const PAIRS = new Set(['Add', 'Sub', 'Mul']);

/** Operators that round nothing. */
const MOVES: ReadonlySet<string> = new Set([...MOVING_OPERATORS, 'Clip', 'MaxPool', 'Relu']);

const CODECS = new Set(['QuantizeLinear', 'DequantizeLinear']);
const CODEC_DOMAINS = ['', 'com.microsoft'];

/** With scales in this range, products of two scales and sums below 2²⁴ of them are normal float32 numbers. */
const SCALES = { least: 2 ** -60, most: 2 ** 50 };

/**
 * True if every scale is a power of two, every layer's sums stay below 2²⁴ units, and every other node only moves or compares values.
 * Then float32 rounds only in QuantizeLinear, so neither the order of addition nor the choice of kernels changes a bit.
 * Also requires that every layer has a bias that is not int32: for int32 biases ONNX Runtime has integer kernels, which are faster than float ones.
 */
export function isExactInFloat({ graph }: Model): boolean {
  const bounds = boundsByNode(graph);
  return [...graph.nodes.values()].every(node => {
    if (CODECS.has(node.opType)) return CODEC_DOMAINS.includes(node.domain) && hasPlainScales(graph, node);
    if (node.domain !== '') return false;
    if (SUMS.has(node.opType)) return bounds.get(node.id)?.exactInFloat === true && hasNarrowBias(graph, node);
    if (PAIRS.has(node.opType)) return bounds.get(node.id)?.exactInFloat === true;
    if (node.opType === 'Resize') return getString(node, 'mode', 'nearest') === 'nearest';
    return MOVES.has(node.opType);
  });
}

function hasPlainScales(graph: Graph, { inputs: [, scale] }: Node): boolean {
  const scales = scale === undefined ? undefined : readNumbers(graph, scale);
  return scales?.every(one => one >= SCALES.least && one <= SCALES.most && Number.isInteger(Math.log2(one))) === true;
}

function hasNarrowBias(graph: Graph, { inputs: [, , bias] }: Node): boolean {
  const integers = bias === undefined ? undefined : findDequantized(graph, bias)?.constant;
  return integers !== undefined && integers.dtype !== 'int32';
}
