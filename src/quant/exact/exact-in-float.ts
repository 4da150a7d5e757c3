/** Does float arithmetic give a QDQ model's exact results, whichever kernels run it? Proved from the model alone: true for every input. */
import { getString } from '../../onnx/ir/attribute.js';
import type { Graph, Model, Node } from '../../onnx/ir/model.js';
import { findDequantized, readNumbers } from '../qdq/dequantized.js';
import { boundsByNode } from './accumulator-bounds.js';

/** These sum products; `boundsByNode` says which of them are exact. */
const SUMS = new Set(['Conv', 'ConvTranspose', 'Gemm']);

/** Of two values each; `boundsByNode` covers them too. */
const PAIRS = new Set(['Add', 'Sub', 'Mul']);

/** These round nothing. */
const MOVES = new Set([
  'Clip',
  'Concat',
  'DepthToSpace',
  'Flatten',
  'Identity',
  'MaxPool',
  'Relu',
  'Reshape',
  'Slice',
  'SpaceToDepth',
  'Split',
  'Squeeze',
  'Transpose',
  'Unsqueeze',
]);

const CODECS = new Set(['QuantizeLinear', 'DequantizeLinear']);
const CODEC_DOMAINS = ['', 'com.microsoft'];

/** Products of two scales, and sums below 2²⁴ of them, are normal float32 numbers. */
const SCALES = { least: 2 ** -60, most: 2 ** 50 };

/**
 * True where every scale is a power of two, every layer's sums stay below 2²⁴ units, and every other node moves or compares values. Then float32 rounds nowhere but in
 * QuantizeLinear: neither the order of adding nor the choice of kernels changes a bit. True only where every layer has a bias that is not int32, because with others ONNX Runtime has
 * integer kernels, which are faster than float ones.
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
