/** Describes a model for the page. */
import { formatBytes } from '../../base/text/format.js';
import { measureModel } from '../analysis/model-stats.js';
import type { Attribute, Constant, Dim, Model, Node, ValueId, ValueType } from '../ir/model.js';
import { sortTopologically } from '../ir/sort.js';
import { inferShapes, isMadeDim } from '../shape-inference/infer-shapes.js';
import type { ConstantView, ModelView, NodeView, ValueView } from './model-view.js';

export function describeModel(model: Model): ModelView {
  const { graph } = model;
  sortTopologically(graph);
  const types = inferShapes(model);
  const { perNode, parameters, macs } = measureModel(model, types);
  const nameOf = (id: ValueId | undefined): string | null => (id === undefined ? null : (graph.values.get(id)?.name ?? ''));
  const taken = new Set<string>();
  const nodes = [...graph.nodes.values()].map((node, index): NodeView => {
    const outputs = node.outputs.map(nameOf);
    return {
      id: uniqueId(node.name || outputs.find(name => name !== null) || `node ${index}`, taken),
      op: node.domain === '' ? node.opType : `${node.domain}.${node.opType}`,
      inputs: node.inputs.map(nameOf),
      outputs,
      attributes: attributesOf(node),
      macs: perNode[index]?.macs ?? null,
      parameters: perNode[index]?.parameters ?? 0,
    };
  });
  const values = [...graph.values.values()].map(({ id, name, type, constant }): [string, ValueView] => {
    const known = types.get(id);
    return [
      name,
      {
        ...(known === undefined ? typeOf(type) : tensorType(known.dtype, known.dims)),
        ...(constant === undefined ? {} : { constant: describeConstant(constant), ...constantType(constant) }),
      },
    ];
  });
  return {
    name: graph.name,
    producer: model.producerName,
    opsets: Object.fromEntries([...model.opsets].map(([domain, version]) => [domain === '' ? 'ai.onnx' : domain, version])),
    inputs: graph.inputs.flatMap(id => nameOf(id) ?? []),
    outputs: graph.outputs.flatMap(id => nameOf(id) ?? []),
    nodes,
    values: Object.fromEntries(values),
    parameters,
    macs: perNode.some(node => node.macs === null) ? null : macs,
  };
}

function uniqueId(name: string, taken: Set<string>): string {
  let id = name;
  for (let count = 2; taken.has(id); count++) id = `${name} (${count})`;
  taken.add(id);
  return id;
}

function typeOf(type: ValueType | undefined): ValueView {
  return type?.kind === 'tensor' ? tensorType(type.dtype, type.dims) : {};
}

function tensorType(dtype: string | undefined, dims: readonly Dim[] | undefined): ValueView {
  const shape = dims === undefined ? {} : { shape: `[${dims.map(dim => (dim === undefined || isMadeDim(dim) ? '?' : dim)).join(', ')}]` };
  return { ...(dtype === undefined ? {} : { dtype }), ...shape };
}

function constantType({ dtype, dims }: Constant): ValueView {
  return { dtype, shape: `[${dims.join(', ')}]` };
}

const LONGEST = 200;

function attributesOf({ attributes }: Node): Readonly<Record<string, string>> {
  return Object.fromEntries([...attributes].map(([name, attribute]) => [name, clip(textOf(attribute))]));
}

function textOf(attribute: Attribute): string {
  switch (attribute.kind) {
    case 'int':
    case 'float':
      return String(attribute.value);
    case 'string':
      return new TextDecoder().decode(attribute.value);
    case 'ints':
    case 'floats':
      return `[${attribute.value.join(', ')}]`;
    case 'strings':
      return `[${attribute.value.map(bytes => new TextDecoder().decode(bytes)).join(', ')}]`;
    case 'tensor':
      return `${attribute.value.dtype} [${attribute.value.dims.join(', ')}]`;
    case 'graph':
      return `a graph of ${attribute.value.nodes.size} nodes`;
    case 'graphs':
      return `${attribute.value.length} graphs`;
    case 'tensors':
      return `${attribute.value.length} tensors`;
    case 'ref':
      return `the attribute ${attribute.refName}`;
    default:
      return formatBytes(attribute.bytes.byteLength);
  }
}

function clip(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`;
}

const READERS: Readonly<Record<string, (bytes: Uint8Array) => ArrayLike<number>>> = {
  float32: bytes => new Float32Array(aligned(bytes)),
  float64: bytes => new Float64Array(aligned(bytes)),
  int8: bytes => new Int8Array(aligned(bytes)),
  uint8: bytes => bytes,
  int16: bytes => new Int16Array(aligned(bytes)),
  uint16: bytes => new Uint16Array(aligned(bytes)),
  int32: bytes => new Int32Array(aligned(bytes)),
};

function describeConstant(constant: Constant): ConstantView {
  const elements = constant.dims.reduce((product, dim) => product * dim, 1);
  if (!('bytes' in constant) || !(constant.bytes instanceof Uint8Array)) return { elements, bytes: 0 };
  const bytes = constant.bytes;
  const read = READERS[constant.dtype];
  if (read === undefined || elements === 0) return { elements, bytes: bytes.byteLength };
  return { elements, bytes: bytes.byteLength, ...summarize(read(bytes)) };
}

function aligned(bytes: Uint8Array): ArrayBuffer {
  return bytes.slice().buffer;
}

/** Population statistics in double precision, in the order of the elements. */
function summarize(numbers: ArrayLike<number>): Pick<ConstantView, 'min' | 'max' | 'mean' | 'std'> {
  let [min, max, sum, squares] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, 0];
  for (let i = 0; i < numbers.length; i++) {
    const x = numbers[i] ?? 0;
    if (x < min) min = x;
    if (x > max) max = x;
    sum += x;
  }
  const mean = sum / numbers.length;
  for (let i = 0; i < numbers.length; i++) squares += ((numbers[i] ?? 0) - mean) ** 2;
  const found = { min, max, mean, std: Math.sqrt(squares / numbers.length) };
  return Object.values(found).every(Number.isFinite) ? found : {};
}
