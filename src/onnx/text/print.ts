/** Printer of models in the text form that `parse-text` reads. Long constants are abbreviated. */
import { assertNever } from '../../base/assert-never.js';
import { countElements } from '../../tensor/shape.js';
import type { Attribute, Constant, Dim, Graph, Model, Node, Value, ValueId, ValueType } from '../ir/model.js';
import { AttributeType } from '../proto/generated/messages.js';
import { nameOfDType } from './dtype-names.js';
import { formatElements, formatFloat } from './elements.js';

export interface PrintOptions {
  /** Constants with more elements are abbreviated to "{…}", which cannot be parsed. Default: 16. */
  readonly maxElements?: number;
  /** Names of values of outer graphs. Default: by id. */
  readonly outerName?: (id: ValueId) => string | undefined;
}

/** The text of `model`, without doc strings, metadata of nodes and values, and uninterpreted fields. */
export function printModel(model: Model, options: PrintOptions = {}): string {
  const pairs = (entries: ReadonlyMap<string, string | number>): string =>
    `[${[...entries].map(([key, value]) => `${JSON.stringify(key)}: ${JSON.stringify(value)}`).join(', ')}]`;
  const heading = [`ir_version: ${model.irVersion}`, `opset_import: ${pairs(model.opsets)}`];
  if (model.producerName !== '') heading.push(`producer_name: ${JSON.stringify(model.producerName)}`);
  if (model.producerVersion !== '') heading.push(`producer_version: ${JSON.stringify(model.producerVersion)}`);
  if (model.domain !== '') heading.push(`domain: ${JSON.stringify(model.domain)}`);
  if (model.modelVersion !== 0n) heading.push(`model_version: ${model.modelVersion}`);
  if (model.docString !== '') heading.push(`doc_string: ${JSON.stringify(model.docString)}`);
  if (model.metadata.size > 0) heading.push(`metadata_props: ${pairs(model.metadata)}`);
  return `<${heading.join(', ')}>\n${printGraph(model.graph, options)}`;
}

export function printGraph(graph: Graph, options: PrintOptions = {}): string {
  return `${formatGraph(graph, { maxElements: options.maxElements ?? 16, indent: '', outerName: id => options.outerName?.(id) ?? `?${id}` })}\n`;
}

interface Style {
  readonly maxElements: number;
  readonly indent: string;
  readonly outerName: (id: ValueId) => string;
}

function formatGraph(graph: Graph, style: Style): string {
  const nameOf = (id: ValueId): string => {
    const value = graph.values.get(id);
    return value === undefined ? style.outerName(id) : formatName(value.name);
  };
  const declare = (id: ValueId): string => {
    const value = graph.values.get(id);
    return value === undefined ? style.outerName(id) : declareValue(value, style);
  };
  const ends = new Set([...graph.inputs, ...graph.outputs]);
  const declareOutput = (id: ValueId): string =>
    graph.inputs.includes(id) ? nameOf(id) : declareTyped(graph.values.get(id)) || nameOf(id);
  const others = [...graph.values.values()].filter(
    ({ id, constant, type }) => !graph.inputs.includes(id) && (constant !== undefined || (type !== undefined && !ends.has(id))),
  );
  const inner: Style = { ...style, indent: `${style.indent}  `, outerName: nameOf };
  const separator = `,\n${style.indent}  `;
  const lines = [
    `${formatName(graph.name || 'graph')} (${graph.inputs.map(declare).join(', ')}) => (${graph.outputs.map(declareOutput).join(', ')})`,
    ...(others.length === 0
      ? []
      : [`${style.indent}<\n${style.indent}  ${others.map(value => declareValue(value, style)).join(separator)}\n${style.indent}>`]),
    `${style.indent}{`,
    ...[...graph.nodes.values()].map(node => `${inner.indent}${formatNode(node, nameOf, inner)}`),
    `${style.indent}}`,
  ];
  return lines.join('\n');
}

function declareValue(value: Value, style: Style): string {
  if (value.constant === undefined) return declareTyped(value);
  return `${formatConstantType(value.constant)} ${formatName(value.name)} = ${formatBody(value.constant, style)}`;
}

function declareTyped(value: Value | undefined): string {
  if (value === undefined) return '';
  const name = formatName(value.name);
  return value.type === undefined ? name : `${formatType(value.type)} ${name}`;
}

/** "float[N, 3]"; "float" is a scalar, "float[]" has unknown rank. */
export function formatType(type: ValueType): string {
  if (type.kind === 'other') return `other("${Buffer.from(type.bytes).toString('hex')}")`;
  const dtype = type.dtype === undefined ? '?' : nameOfDType(type.dtype);
  if (type.dims === undefined) return `${dtype}[]`;
  return type.dims.length === 0 ? dtype : `${dtype}[${type.dims.map(formatDim).join(', ')}]`;
}

function formatDim(dim: Dim): string {
  if (dim === undefined) return '?';
  return typeof dim === 'number' ? String(dim) : formatName(dim);
}

function formatConstantType(constant: Constant): string {
  return formatType({ kind: 'tensor', dtype: constant.dtype, dims: constant.dims });
}

function formatBody(constant: Constant, style: Style): string {
  const isLong = countElements(constant.dims) > style.maxElements;
  return isLong ? '{…}' : `{${formatElements(constant, style.maxElements).join(', ')}}`;
}

/** A name in the text form, quoted if necessary. */
export function formatName(name: string): string {
  return /^[A-Za-z_][\w./]*$/.test(name) && !/^(?:inf|nan)\b/.test(name) ? name : JSON.stringify(name);
}

function formatNode(node: Node, nameOf: (id: ValueId) => string, style: Style): string {
  const place = (id: ValueId | undefined): string => (id === undefined ? '' : nameOf(id));
  const label = node.name === '' ? '' : `[${formatName(node.name)}] `;
  const operator = formatName(node.domain === '' ? node.opType : `${node.domain}.${node.opType}`);
  const overload = node.overload === '' ? '' : `:${formatName(node.overload)}`;
  const attributes = [...node.attributes].map(([name, attribute]) => formatAttribute(name, attribute, style));
  const listed = attributes.length === 0 ? '' : `<${attributes.join(', ')}>`;
  return `${label}${node.outputs.map(place).join(', ')} = ${operator}${overload}${listed}(${node.inputs.map(place).join(', ')})`;
}

function formatAttribute(name: string, attribute: Attribute, style: Style): string {
  const key = formatName(name);
  const list = (items: readonly string[], type: string): string =>
    items.length === 0 ? `${key}: ${type} = []` : `${key} = [${items.join(', ')}]`;
  switch (attribute.kind) {
    case 'float':
      return `${key} = ${formatFloat(attribute.value)}`;
    case 'int':
      return `${key} = ${attribute.value}`;
    case 'string':
      return `${key} = ${formatText(attribute.value)}`;
    case 'tensor':
      return `${key} = ${formatTensor(attribute, style)}`;
    case 'graph':
      return `${key} = ${formatGraph(attribute.value, style)}`;
    case 'floats':
      return list(
        attribute.value.map(value => formatFloat(value)),
        'floats',
      );
    case 'ints':
      return list(attribute.value.map(String), 'ints');
    case 'strings':
      return list(attribute.value.map(formatText), 'strings');
    case 'tensors':
      return list(
        attribute.value.map(item => formatTensor(item, style)),
        'tensors',
      );
    case 'graphs':
      return list(
        attribute.value.map(graph => formatGraph(graph, style)),
        'graphs',
      );
    case 'ref':
      return `${key}${nameAttributeType(attribute.attributeType)} = @${formatName(attribute.refName)}`;
    case 'other':
      return `${key}: other = "${Buffer.from(attribute.bytes).toString('hex')}"`;
    default:
      return assertNever(attribute);
  }
}

function nameAttributeType(type: number): string {
  const name = Object.entries(AttributeType).find(([, id]) => id === type && id !== AttributeType.UNDEFINED)?.[0];
  return name === undefined ? '' : `: ${name.toLowerCase()}`;
}

function formatTensor({ value, name }: { readonly value: Constant; readonly name: string }, style: Style): string {
  return `${formatConstantType(value)} ${name === '' ? '' : `${formatName(name)} `}${formatBody(value, style)}`;
}

function formatText(bytes: Uint8Array): string {
  return JSON.stringify(new TextDecoder().decode(bytes));
}
