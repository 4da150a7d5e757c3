/** Turns a model that computes in float16 into one that computes in float32. */
import { decodeFloat16Array } from '../../tensor/numeric/half.js';
import { decodeRawTensor, encodeRawTensor } from '../../tensor/raw-tensor.js';
import { makeTensor } from '../../tensor/tensor.js';
import { subgraphsOf } from '../ir/edit.js';
import type { Attribute, Constant, Graph, Model, NamedConstant } from '../ir/model.js';

/** TensorProto.DataType of ONNX. */
const FLOAT = 1n;
const FLOAT16 = 10n;

/** Attributes that hold a data type: of Cast, of operators that make tensors, and of windows. */
const TYPE_ATTRIBUTES = ['to', 'dtype', 'output_datatype', 'stash_type'];

/**
 * Every float16 value, weight and attribute of `model` becomes float32; inputs and outputs too. Weights keep their values, and results lose the rounding to float16.
 * Nodes of other domains and functions keep their attributes.
 * Types of sequences and optionals are kept as they are.
 * @returns the number of values and weights that were float16.
 */
export function widenHalf({ graph }: Model): number {
  return widenGraph(graph);
}

function widenGraph(graph: Graph): number {
  let widened = 0;
  for (const value of graph.values.values()) {
    const { type, constant } = value;
    const isHalf = (type?.kind === 'tensor' && type.dtype === 'float16') || constant?.dtype === 'float16';
    if (!isHalf) continue;
    widened++;
    if (type?.kind === 'tensor') value.type = { ...type, dtype: 'float32' };
    if (constant !== undefined) value.constant = widenConstant(constant);
  }
  for (const node of graph.nodes.values()) {
    if (node.domain === '') for (const [name, attribute] of node.attributes) node.attributes.set(name, widenAttribute(name, attribute));
    for (const sub of subgraphsOf(node)) widened += widenGraph(sub);
  }
  return widened;
}

function widenAttribute(name: string, attribute: Attribute): Attribute {
  if (attribute.kind === 'int' && attribute.value === FLOAT16 && TYPE_ATTRIBUTES.includes(name)) return { ...attribute, value: FLOAT };
  if (attribute.kind === 'tensor') return { ...attribute, ...widenNamed(attribute) };
  if (attribute.kind === 'tensors') return { ...attribute, value: attribute.value.map(widenNamed) };
  return attribute;
}

function widenNamed(named: NamedConstant): NamedConstant {
  return { ...named, value: widenConstant(named.value) };
}

function widenConstant(constant: Constant): Constant {
  if (constant.dtype !== 'float16') return constant;
  const { dims, data } = decodeRawTensor({ ...constant, dtype: constant.dtype });
  return encodeRawTensor(makeTensor('float32', dims, decodeFloat16Array(data)));
}
