/** Graphs with their outer graphs, whose values nodes of a subgraph can read. */
import { subgraphsOf } from './edit.js';
import type { Graph, Model, Node, Value, ValueId } from './model.js';

/** One graph of a model and its position in it. */
export interface Scope {
  readonly model: Model;
  readonly graph: Graph;
  /** The scope of the outer graph and the node in it that has this graph as a subgraph; undefined for the main graph. */
  readonly outer: { readonly scope: Scope; readonly node: Node } | undefined;
}

export const mainScope = (model: Model): Scope => ({ model, graph: model.graph, outer: undefined });

/** Every graph of `model`, outer graphs first. The model may be edited during the iteration: removed subgraphs are skipped, and new ones are visited. */
export function* scopesOf(model: Model): Generator<Scope> {
  yield* scopesFrom(mainScope(model));
}

function* scopesFrom(scope: Scope): Generator<Scope> {
  yield scope;
  for (const node of [...scope.graph.nodes.values()]) {
    if (!scope.graph.nodes.has(node.id)) continue;
    for (const graph of [...subgraphsOf(node)]) yield* scopesFrom({ model: scope.model, graph, outer: { scope, node } });
  }
}

/** The scope, this one or an outer one, whose graph owns the value. */
export function findOwner(scope: Scope, id: ValueId): Scope | undefined {
  for (let at: Scope | undefined = scope; at !== undefined; at = at.outer?.scope) if (at.graph.values.has(id)) return at;
  return undefined;
}

export function findVisibleValue(scope: Scope, id: ValueId): Value | undefined {
  return findOwner(scope, id)?.graph.values.get(id);
}

/** The graphs from the main graph to this one. */
export function graphsOf({ graph, outer }: Scope): readonly Graph[] {
  return outer === undefined ? [graph] : [...graphsOf(outer.scope), graph];
}
