/** Checks of the nodes of a graph against operator schemas: existence, version, parameters and types. */
import { assertNever } from '../../base/assert-never.js';
import { subgraphsOf } from '../ir/edit.js';
import type { Graph, Model, Node } from '../ir/model.js';
import { findClosestOperator, findNewestOpset, findOperator } from '../schemas/find-operator.js';
import type { OperatorSchema } from '../schemas/operator-schema.js';
import { typeName } from '../schemas/type-name.js';
import { callNameOf, type ModelFunctions } from './functions.js';
import { checkCallForm, checkNodeForm } from './node-form.js';
import { checkNodeTypes, type ValueTypes } from './node-types.js';
import { describe, type Report } from './problem.js';
import { checkSpecialForm } from './special-forms.js';
import { checkSubgraphTypes } from './subgraph-types.js';

/** The operator sets and functions that apply to a graph and its subgraphs. */
export interface OperatorScope {
  readonly opsets: ReadonlyMap<string, number>;
  readonly functions: ModelFunctions;
}

/** Reports the problems of the nodes of `graph`, including subgraphs, in order. Nodes are in topological order. */
export function checkOperators(scope: OperatorScope, graph: Graph, report: Report): void {
  checkGraph(scope, graph, new Map(), report);
}

function checkGraph(scope: OperatorScope, graph: Graph, types: ValueTypes, report: Report): void {
  for (const value of graph.values.values()) {
    if (value.producer !== undefined) continue;
    const type = value.constant?.dtype ?? typeName(value.type);
    if (type !== undefined) types.set(value.id, type);
  }
  for (const node of graph.nodes.values()) {
    for (const sub of subgraphsOf(node)) checkGraph(scope, sub, types, report);
    checkNode(scope, graph, node, types, report);
  }
}

function checkNode(scope: OperatorScope, graph: Graph, node: Node, types: ValueTypes, report: Report): void {
  const called = scope.functions.get(callNameOf(node));
  const schema = called === undefined ? findSchema(scope, graph, node, report) : undefined;
  if (called !== undefined) checkCallForm(graph, node, called, report);
  if (schema === undefined) {
    useDeclaredTypes(graph, node, types);
    return;
  }
  checkNodeForm(graph, node, schema, report);
  checkSpecialForm(graph, node, schema, report);
  checkNodeTypes(graph, node, schema, types, report);
  checkSubgraphTypes(graph, node, types, report);
}

/** The schema of the node's operator in the model's operator set; undefined if there is none, which is reported, or if the operator is not described. */
function findSchema({ opsets }: OperatorScope, graph: Graph, node: Node, report: Report): OperatorSchema | undefined {
  const opset = opsets.get(node.domain);
  if (opset === undefined || node.opType === '') return undefined;
  const found = findOperator(node.domain, node.opType, opset);
  const label = (): string => describe(graph, node);
  const domain = node.domain === '' ? 'ai.onnx' : node.domain;
  switch (found.kind) {
    case 'found':
      return found.schema;
    case 'unknown':
      report('unknown-operator', `${label()}: ${domain} has no operator ${node.opType}`, () => {
        const closest = findClosestOperator(node.domain, node.opType);
        return closest && `did you mean ${closest}?`;
      });
      return undefined;
    case 'too-new':
      report(
        'operator-too-new',
        `${label()}: ${node.opType} needs operator set ${found.since} of ${domain}, the model imports ${opset}`,
        () => `\`tanren onnx convert --opset ${found.since}\` may convert the model`,
      );
      return undefined;
    case 'deprecated':
      report(
        'operator-deprecated',
        `${label()}: ${node.opType} was removed in operator set ${found.since} of ${domain}, the model imports ${opset}`,
      );
      return undefined;
    case 'not-described':
      return undefined;
    default:
      return assertNever(found);
  }
}

/** Keeps the declared types of the outputs of a node that is not described. */
function useDeclaredTypes(graph: Graph, node: Node, types: ValueTypes): void {
  for (const id of node.outputs) {
    const type = id === undefined ? undefined : typeName(graph.values.get(id)?.type);
    if (id !== undefined && type !== undefined) types.set(id, type);
  }
}

/** Nodes of one domain that could not be checked, with the reason. */
export interface Unchecked {
  readonly domain: string;
  readonly nodes: number;
  readonly reason: string;
}

/** Nodes that `checkModel` cannot check: operators of unknown domains and of operator sets that are too new. */
export function listUnchecked(model: Model): readonly Unchecked[] {
  const counts = new Map<string, number>();
  countNodes(model, model.graph, counts);
  return [...counts].map(([domain, nodes]) => {
    const newest = findNewestOpset(domain);
    const reason = newest === undefined ? 'its operators are not known' : `its operator sets are known up to ${newest}`;
    return { domain: domain === '' ? 'ai.onnx' : domain, nodes, reason };
  });
}

function countNodes(model: Model, graph: Graph, counts: Map<string, number>): void {
  for (const node of graph.nodes.values()) {
    const found = findOperator(node.domain, node.opType, model.opsets.get(node.domain) ?? 0);
    if (found.kind === 'not-described') counts.set(node.domain, (counts.get(node.domain) ?? 0) + 1);
    for (const sub of subgraphsOf(node)) countNodes(model, sub, counts);
  }
}
