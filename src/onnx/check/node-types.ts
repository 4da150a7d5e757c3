/** Checks of the types of a node's values against its operator schema, with propagation of types from node to node. */
import { findDTypeByOnnx } from '../../tensor/dtype.js';
import type { Attribute, Graph, Node, ValueId } from '../ir/model.js';
import { findVersion } from '../schemas/find-operator.js';
import { type OperatorSchema, type Parameter, parameterAt } from '../schemas/operator-schema.js';
import { typeName } from '../schemas/type-name.js';
import { formOf } from './node-form.js';
import { describe, nameOf, type Report } from './problem.js';

/** Names of the known types of values, including those of subgraphs. */
export type ValueTypes = Map<ValueId, string>;

/** The type of a type variable and the value that determined it. */
interface Binding {
  readonly type: string;
  readonly by: () => string;
}

/** Reports type errors of the node, and adds the types of its outputs to `types`. */
export function checkNodeTypes(graph: Graph, node: Node, schema: OperatorSchema, types: ValueTypes, report: Report): void {
  const bindings = new Map<string, Binding>();
  const place: Place = { graph, node, schema, bindings, report };
  for (const [index, id] of node.inputs.entries()) {
    const parameter = parameterAt(schema.inputs, index);
    const type = id === undefined ? undefined : types.get(id);
    if (id !== undefined && parameter !== undefined && type !== undefined) checkType(place, 'input', parameter, id, type);
  }
  for (const [index, id] of node.outputs.entries()) {
    const parameter = parameterAt(schema.outputs, index);
    if (id === undefined || parameter === undefined) continue;
    const stated = typeName(graph.values.get(id)?.type);
    if (stated !== undefined) checkType(place, 'output', parameter, id, stated);
    const type = stated ?? deriveType(place, parameter, index, types);
    if (type !== undefined) types.set(id, type);
  }
}

interface Place {
  readonly graph: Graph;
  readonly node: Node;
  readonly schema: OperatorSchema;
  readonly bindings: Map<string, Binding>;
  readonly report: Report;
}

/** Reports a type that is not allowed once, where its type variable first has it. */
function checkType(place: Place, side: 'input' | 'output', of: Parameter, id: ValueId, type: string): void {
  const { graph, node, schema, bindings, report } = place;
  const where = (): string => `${side} ${of.name}, ${nameOf(graph, id)},`;
  const variable = isMixed(of) ? undefined : of.variable;
  const bound = variable === undefined ? undefined : bindings.get(variable);
  if (bound?.type === type) return;
  if (variable !== undefined && bound === undefined) bindings.set(variable, { type, by: where });
  if (!of.types.has(type)) {
    const takes = `${formOf(schema)} ${side === 'input' ? 'takes' : 'returns'} ${listTypes(of)}`;
    report(`${side}-type`, `${describe(graph, node)}: its ${where()} is ${type}; ${takes}`, () =>
      laterVersionWith(schema, side, of.name, type),
    );
  } else if (bound !== undefined) {
    const message = `${describe(graph, node)}: its ${bound.by()} is ${bound.type}, its ${where()} is ${type}; they must have the same type`;
    report('type-conflict', message);
  }
}

const isMixed = ({ occurs }: Pick<Parameter, 'occurs'>): boolean => occurs.kind === 'variadic' && occurs.types === 'any-types';

/** The type of an output as determined by the operator. */
function deriveType(
  { node, bindings }: Place,
  { variable, types, occurs }: Parameter,
  index: number,
  known: ValueTypes,
): string | undefined {
  const bound = variable === undefined || isMixed({ occurs }) ? undefined : bindings.get(variable)?.type;
  if (bound !== undefined) return bound;
  const [only] = types;
  return types.size === 1 ? only : typeByAttributes(node, index, known);
}

/** The output type of operators whose attributes determine it. */
function typeByAttributes(node: Node, index: number, known: ValueTypes): string | undefined {
  if (node.domain !== '') return undefined;
  const { attributes } = node;
  switch (node.opType) {
    case 'Cast':
      return dtypeOf(attributes.get('to'));
    case 'Constant':
      return typeOfConstant(attributes);
    case 'ConstantOfShape':
      return dtypeOfTensor(attributes.get('value')) ?? 'float32';
    case 'EyeLike':
    case 'RandomNormal':
    case 'RandomUniform':
      return dtypeOf(attributes.get('dtype'));
    case 'If':
      return typeOfSubgraph(attributes.get('then_branch'), index, known);
    case 'Loop':
      return typeOfSubgraph(attributes.get('body'), index + 1, known);
    case 'Scan':
      return typeOfSubgraph(attributes.get('body'), index, known);
    default:
      return undefined;
  }
}

function typeOfConstant(attributes: Node['attributes']): string | undefined {
  if (attributes.has('value')) return dtypeOfTensor(attributes.get('value'));
  if (attributes.has('value_float') || attributes.has('value_floats')) return 'float32';
  if (attributes.has('value_int') || attributes.has('value_ints')) return 'int64';
  return attributes.has('value_string') || attributes.has('value_strings') ? 'string' : undefined;
}

function dtypeOfTensor(attribute: Attribute | undefined): string | undefined {
  return attribute?.kind === 'tensor' ? attribute.value.dtype : undefined;
}

function dtypeOf(attribute: Attribute | undefined): string | undefined {
  return attribute?.kind === 'int' ? findDTypeByOnnx(Number(attribute.value)) : undefined;
}

function typeOfSubgraph(attribute: Attribute | undefined, output: number, known: ValueTypes): string | undefined {
  const id = attribute?.kind === 'graph' ? attribute.value.outputs[output] : undefined;
  return id === undefined ? undefined : known.get(id);
}

/** Maximum number of types that a message lists. */
const MAX_LISTED = 12;

function listTypes({ types }: Parameter): string {
  const names = [...types];
  const more = names.length > MAX_LISTED ? ` and ${names.length - MAX_LISTED} more` : '';
  return `${names.slice(0, MAX_LISTED).join(', ')}${more}`;
}

function laterVersionWith({ domain, name, since }: OperatorSchema, side: 'input' | 'output', of: string, type: string): string | undefined {
  const later = findVersion(domain, name, schema => {
    const parameters = side === 'input' ? schema.inputs : schema.outputs;
    return schema.since > since && parameters.some(parameter => parameter.name === of && parameter.types.has(type));
  });
  return later && `operator set ${later.since} supports it: \`tanren onnx convert --opset ${later.since}\` may convert the model`;
}
