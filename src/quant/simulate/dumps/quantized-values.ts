/** The quantized values of a QDQ model, with the names under which a device may dump them. */
import type { Model, Node, ValueId } from '../../../onnx/ir/model.js';
import { findConstantValue } from '../../../onnx/rewrite/graph-view.js';
import { findFloats, findIntegers } from '../../../onnx/shape-inference/context/constant-elements.js';
import { isStatic } from '../../../onnx/shape-inference/context/dims.js';
import { QUANTIZED_DTYPES, type QuantizedDType } from '../../integers/quantized-dtype.js';

export interface QuantizedValue {
  readonly id: ValueId;
  /** Of the output of QuantizeLinear. */
  readonly name: string;
  /** The same tensor in float: before QuantizeLinear, and after each DequantizeLinear. */
  readonly aliases: readonly string[];
  /** Of the operator that computes it: "Conv", "Conv, Relu"; "QuantizeLinear" of an input of the model. */
  readonly opType: string;
  readonly dtype: QuantizedDType;
  readonly dims: readonly number[];
  readonly scale: number;
  readonly zeroPoint: number;
}

/** Values with one scale and a fixed shape, in the order of the nodes, which is topological. Shapes must be inferred. */
export function listQuantizedValues(model: Model): readonly QuantizedValue[] {
  const { graph } = model;
  const producers = new Map<ValueId, Node>();
  const dequantized = new Map<ValueId, string[]>();
  const nameOf = (id: ValueId | undefined): string => (id === undefined ? '' : (graph.values.get(id)?.name ?? ''));
  for (const node of graph.nodes.values()) {
    for (const id of node.outputs) if (id !== undefined) producers.set(id, node);
    const [from] = node.inputs;
    if (node.opType === 'DequantizeLinear' && from !== undefined)
      dequantized.set(from, [...(dequantized.get(from) ?? []), nameOf(node.outputs[0])]);
  }
  return [...graph.nodes.values()].flatMap((node): readonly QuantizedValue[] => {
    const [id] = node.outputs;
    if (node.opType !== 'QuantizeLinear' || id === undefined) return [];
    const parameters = findParameters(model, node);
    const type = graph.values.get(id)?.type;
    const dims = type?.kind === 'tensor' ? type.dims : undefined;
    if (parameters === undefined || !isStatic(dims) || findConstantValue(model, node.inputs[0]) !== undefined) return [];
    return [
      {
        id,
        name: nameOf(id),
        aliases: [nameOf(node.inputs[0]), ...(dequantized.get(id) ?? [])].filter(name => name !== ''),
        opType: describeOperator(node, producers),
        dims: [...dims],
        ...parameters,
      },
    ];
  });
}

function findParameters(model: Model, node: Node): Pick<QuantizedValue, 'dtype' | 'scale' | 'zeroPoint'> | undefined {
  const scales = findFloats(findConstantValue(model, node.inputs[1]));
  const zero = findConstantValue(model, node.inputs[2]);
  const [scale] = scales ?? [];
  const dtype = QUANTIZED_DTYPES.find(name => name === (zero?.dtype ?? 'uint8'));
  if (scale === undefined || scales?.length !== 1 || dtype === undefined) return undefined;
  return { dtype, scale, zeroPoint: Number(findIntegers(zero)?.[0] ?? 0) };
}

/** Operators between DequantizeLinear and the quantizer, at most two: an operator and its activation function. */
function describeOperator(quantizer: Node, producers: ReadonlyMap<ValueId, Node>): string {
  const before = (node: Node): Node | undefined => (node.inputs[0] === undefined ? undefined : producers.get(node.inputs[0]));
  const last = before(quantizer);
  if (last === undefined || last.opType === 'DequantizeLinear') return 'QuantizeLinear';
  const first = before(last);
  const isOperator = first !== undefined && first.opType !== 'DequantizeLinear' && first.opType !== 'QuantizeLinear';
  return isOperator ? `${first.opType}, ${last.opType}` : last.opType;
}
