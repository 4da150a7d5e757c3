/** Are the nodes of a model what its operator sets say? Each is looked up in the operators' schemas: known, of that set, complete, of the right types. */
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

/** What holds for a graph and all inside it. */
export interface OperatorScope {
  readonly opsets: ReadonlyMap<string, number>;
  readonly functions: ModelFunctions;
}

/** Reports what is wrong with the nodes of `graph`, sub-graphs included, in order. Nodes come after those whose values they read. */
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
    keepStated(graph, node, types);
    return;
  }
  checkNodeForm(graph, node, schema, report);
  checkSpecialForm(graph, node, schema, report);
  checkNodeTypes(graph, node, schema, types, report);
  checkSubgraphTypes(graph, node, types, report);
}

/** The form that the node's operator has in the model's operator set; undefined where there is none, which is reported, or where none is known. */
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
        `${label()}: ${node.opType} comes with operator set ${found.since} of ${domain}, the model imports ${opset}`,
        () => `\`tanren onnx convert --opset ${found.since}\` may bring the model there`,
      );
      return undefined;
    case 'deprecated':
      report(
        'operator-deprecated',
        `${label()}: ${node.opType} is gone since operator set ${found.since} of ${domain}, the model imports ${opset}`,
      );
      return undefined;
    case 'not-described':
      return undefined;
    default:
      return assertNever(found);
  }
}

/** Of a node that nothing is known of, values are what the file says. */
function keepStated(graph: Graph, node: Node, types: ValueTypes): void {
  for (const id of node.outputs) {
    const type = id === undefined ? undefined : typeName(graph.values.get(id)?.type);
    if (id !== undefined && type !== undefined) types.set(id, type);
  }
}

/** Nodes of one domain that nothing was compared with, and why. */
export interface Unchecked {
  readonly domain: string;
  readonly nodes: number;
  readonly reason: string;
}

/** What `checkModel` could not look into: operators of other domains, and of operator sets newer than those known. */
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
