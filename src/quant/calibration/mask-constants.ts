/** Masks: values that depend on constants which are infinite or far beyond every signal, as attention adds them to what should not be seen. */
import type { Constant, Graph, Node, ValueId } from '../../onnx/ir/model.js';
import { decodeRawTensor } from '../../tensor/raw-tensor.js';
import type { Sketch } from '../sketch/sketch.js';

/** Exporters write −10⁹, the smallest float32 number or −∞. At a scale that reaches them, every signal is one integer. */
export const MASK_MAGNITUDE = 1e8;

/**
 * Such constants, and the values of the main graph that nodes compute from masks. Nodes must be in topological order.
 * @param hasFar whether a value has elements as a mask has them: only such values are masks, and inputs of the graph among them. undefined: not known, so that it may.
 */
export function findMasks(graph: Graph, hasFar: (id: ValueId) => boolean | undefined): ReadonlySet<ValueId> {
  const masks = new Set<ValueId>(graph.inputs.filter(hasFar));
  for (const id of findMaskConstants(graph)) masks.add(id);
  for (const node of graph.nodes.values()) {
    const reads = readsMasks(node) && node.inputs.some(id => id !== undefined && masks.has(id));
    if (!reads && !holdsMask(node)) continue;
    for (const output of node.outputs) if (output !== undefined && hasFar(output) !== false) masks.add(output);
  }
  return masks;
}

/** Constants that are masks by themselves, and that a node computes with. Weights are none, and are many: they are not looked at. */
export function findMaskConstants(graph: Graph): readonly ValueId[] {
  const read = new Set([...graph.nodes.values()].flatMap(node => (readsMasks(node) && !WEIGHTED.has(node.opType) ? node.inputs : [])));
  return [...read].filter((id): id is ValueId => id !== undefined && isMaskConstant(graph.values.get(id)?.constant));
}

const WEIGHTED: ReadonlySet<string> = new Set(['Conv', 'ConvTranspose', 'Gemm', 'MatMul']);

/** A bound of Clip beyond every signal bounds nothing. */
export function readsMasks({ opType }: Node): boolean {
  return opType !== 'Clip';
}

/** Constant, ConstantOfShape, and Pad in early operator sets. */
function holdsMask(node: Node): boolean {
  if (!readsMasks(node)) return false;
  const { attributes } = node;
  for (const attribute of attributes.values()) {
    if (attribute.kind === 'tensor' && isMaskConstant(attribute.value)) return true;
    if (attribute.kind === 'float' && isFar(attribute.value)) return true;
  }
  return false;
}

function isMaskConstant(constant: Constant | undefined): boolean {
  if (constant?.dtype !== 'float32') return false;
  const { data } = decodeRawTensor({ ...constant, dtype: constant.dtype });
  for (let index = 0; index < data.length; index++) if (isFar(data[index] as number)) return true;
  return false;
}

/** Whether a value has elements as a mask has them. */
export function hasFarElements({ infinite, min = 0, max = 0 }: Pick<Sketch, 'infinite' | 'min' | 'max'>): boolean {
  return infinite > 0 || Math.max(-min, max) >= MASK_MAGNITUDE;
}

/** NaN is no mask, but an error. */
function isFar(value: number): boolean {
  return Math.abs(value) >= MASK_MAGNITUDE;
}
