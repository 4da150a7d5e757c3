/** What does a graph see of the graphs around it? A node in the body of an If or Loop reads values of its own graph, and of every one outside. */
import { subgraphsOf } from './edit.js';
import type { Graph, Model, Node, Value, ValueId } from './model.js';

/** One graph of a model, and where it hangs. */
export interface Scope {
  readonly model: Model;
  readonly graph: Graph;
  /** The scope around it, and the node there that carries the graph; undefined for the model's own graph. */
  readonly around: { readonly scope: Scope; readonly carrier: Node } | undefined;
}

export const mainScope = (model: Model): Scope => ({ model, graph: model.graph, around: undefined });

/** Every graph of `model`, outer ones first. Walked while it is edited: graphs that went with their node are not visited, those that came are. */
export function* scopesOf(model: Model): Generator<Scope> {
  yield* scopesFrom(mainScope(model));
}

function* scopesFrom(scope: Scope): Generator<Scope> {
  yield scope;
  for (const carrier of [...scope.graph.nodes.values()]) {
    if (!scope.graph.nodes.has(carrier.id)) continue;
    for (const graph of [...subgraphsOf(carrier)]) yield* scopesFrom({ model: scope.model, graph, around: { scope, carrier } });
  }
}

/** The graph that owns the value, here or around; undefined where none does. */
export function findOwner(scope: Scope, id: ValueId): Scope | undefined {
  for (let at: Scope | undefined = scope; at !== undefined; at = at.around?.scope) if (at.graph.values.has(id)) return at;
  return undefined;
}

export function findVisibleValue(scope: Scope, id: ValueId): Value | undefined {
  return findOwner(scope, id)?.graph.values.get(id);
}

/** From the model's own graph to this one. */
export function graphsOf({ graph, around }: Scope): readonly Graph[] {
  return around === undefined ? [graph] : [...graphsOf(around.scope), graph];
}
