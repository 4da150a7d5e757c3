/** Checks of the inputs, outputs and attributes of a node against its operator schema, except for types. */
import { countOf } from '../../base/text/count-of.js';
import { findClosest } from '../../base/text/did-you-mean.js';
import type { Attribute, Graph, Node } from '../ir/model.js';
import { decodeMessage } from '../proto/codec/decode-message.js';
import { WHOLE_SCHEMA } from '../proto/codec/schema.js';
import { AttributeType } from '../proto/generated/messages.js';
import { findVersion } from '../schemas/find-operator.js';
import { countAllowed, type OperatorSchema, type Parameter, parameterAt, type SchemaAttributeKind } from '../schemas/operator-schema.js';
import type { ModelFunction } from './functions.js';
import { describe, type Report } from './problem.js';

export function checkNodeForm(graph: Graph, node: Node, schema: OperatorSchema, report: Report): void {
  const label = (): string => describe(graph, node);
  checkList('input', node.inputs, schema.inputs, label, report);
  checkList('output', node.outputs, schema.outputs, label, report);
  for (const [name, attribute] of node.attributes) checkAttribute(graph, node, schema, { name, attribute }, report);
  for (const [name, { kind, required }] of schema.attributes) {
    if (required && !node.attributes.has(name)) {
      report('missing-attribute', `${describe(graph, node)} has no attribute "${name}" (${kind}), which ${formOf(schema)} requires`);
    }
  }
}

/** Checks a call of a model-local function: all parameters are optional, but no others are allowed. */
export function checkCallForm(graph: Graph, node: Node, { name, body, attributes }: ModelFunction, report: Report): void {
  const label = describe(graph, node);
  for (const [side, given, most] of [
    ['input', node.inputs.length, body.inputs.length],
    ['output', node.outputs.length, body.outputs.length],
  ] as const) {
    if (given > most) report(`${side}-count`, `${label} has ${countOf(given, side)}, function ${name} takes ${most}`);
  }
  for (const attribute of node.attributes.keys()) {
    if (attributes.has(attribute) || isInternal(attribute)) continue;
    report('unknown-attribute', `${label} has the attribute "${attribute}", which function ${name} does not have`, () =>
      hintOf(attribute, attributes),
    );
  }
}

function checkList(
  side: 'input' | 'output',
  list: Node['inputs'],
  parameters: readonly Parameter[],
  label: () => string,
  report: Report,
): void {
  const { least, most } = countAllowed(parameters);
  if (list.length < least || list.length > most) {
    report(
      `${side}-count`,
      `${label()} has ${countOf(list.length, side)}, expected ${rangeOf(least, most)}: ${listParameters(parameters)}`,
    );
  }
  for (const [index, id] of list.entries()) {
    const parameter = parameterAt(parameters, index);
    if (id === undefined && parameter?.occurs.kind === 'single') {
      report(`missing-${side}`, `${label()} has no ${side} ${index}, ${parameter.name}, which is not optional`);
    }
  }
}

interface Named {
  readonly name: string;
  readonly attribute: Attribute;
}

function checkAttribute(graph: Graph, node: Node, schema: OperatorSchema, { name, attribute }: Named, report: Report): void {
  const known = schema.attributes.get(name);
  if (known === undefined) {
    if (isInternal(name) || schema.otherAttributes === 'allowed') return;
    const message = `${describe(graph, node)} has the attribute "${name}", which ${formOf(schema)} does not have`;
    report('unknown-attribute', message, () => otherVersionOf(schema, name) ?? hintOf(name, schema.attributes.keys()));
    return;
  }
  const kind = kindOf(attribute);
  if (kind === undefined || kind === known.kind) return;
  report('attribute-kind', `${describe(graph, node)}: attribute "${name}" has kind ${kind}, ${formOf(schema)} expects ${known.kind}`);
}

/** Attributes with two leading underscores are private to the tool that wrote them. */
const isInternal = (name: string): boolean => name.startsWith('__');

function otherVersionOf({ domain, name, since }: OperatorSchema, attribute: string): string | undefined {
  const other = findVersion(domain, name, schema => schema.attributes.has(attribute));
  if (other === undefined) return undefined;
  return other.since > since
    ? `the attribute exists from operator set ${other.since} on`
    : 'the attribute exists in older operator sets only; it may have become an input';
}

function hintOf(name: string, known: Iterable<string>): string | undefined {
  const names = [...known];
  const closest = findClosest(name, names);
  if (closest !== undefined) return `did you mean "${closest}"?`;
  return names.length === 0 ? 'it has no attributes' : `its attributes are ${names.join(', ')}`;
}

/** The kind of an attribute; undefined if it has no type and no value. */
function kindOf(attribute: Attribute): SchemaAttributeKind | undefined {
  if (attribute.kind === 'ref') return KIND_OF_TYPE.get(attribute.attributeType);
  if (attribute.kind !== 'other') return attribute.kind;
  const { type, sparseTensor, sparseTensors, tp, typeProtos } = decodeMessage(WHOLE_SCHEMA, 'AttributeProto', attribute.bytes);
  if (type !== undefined) return KIND_OF_TYPE.get(type);
  if (sparseTensor !== undefined) return 'sparse-tensor';
  if (sparseTensors !== undefined) return 'sparse-tensors';
  if (tp !== undefined) return 'type';
  return typeProtos === undefined ? undefined : 'types';
}

const KIND_OF_TYPE: ReadonlyMap<number, SchemaAttributeKind> = new Map([
  [AttributeType.FLOAT, 'float'],
  [AttributeType.INT, 'int'],
  [AttributeType.STRING, 'string'],
  [AttributeType.TENSOR, 'tensor'],
  [AttributeType.GRAPH, 'graph'],
  [AttributeType.SPARSE_TENSOR, 'sparse-tensor'],
  [AttributeType.TYPE_PROTO, 'type'],
  [AttributeType.FLOATS, 'floats'],
  [AttributeType.INTS, 'ints'],
  [AttributeType.STRINGS, 'strings'],
  [AttributeType.TENSORS, 'tensors'],
  [AttributeType.GRAPHS, 'graphs'],
  [AttributeType.SPARSE_TENSORS, 'sparse-tensors'],
  [AttributeType.TYPE_PROTOS, 'types'],
]);

/** The version of an operator in messages: 'Conv of operator set 11'. */
export function formOf({ domain, name, since }: OperatorSchema): string {
  return `${domain === '' ? '' : `${domain}.`}${name} of operator set ${since}`;
}

function rangeOf(least: number, most: number): string {
  if (least === most) return `${least}`;
  return most === Number.POSITIVE_INFINITY ? `${least} or more` : `${least} to ${most}`;
}

/** "X, W, B?", with a question mark for optional parameters and an ellipsis for a variadic one. */
function listParameters(parameters: readonly Parameter[]): string {
  const marks = { single: '', optional: '?', variadic: '…' } as const;
  return parameters.length === 0 ? 'none' : parameters.map(({ name, occurs }) => `${name}${marks[occurs.kind]}`).join(', ');
}
