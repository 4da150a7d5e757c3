/** A set of used names of values or nodes, for edits that need many unused names. */
import { collectValueNames } from './edit.js';
import type { Graph } from './model.js';

/** The value names used in a graph and its subgraphs. It tracks names returned by `take`, but not values that are added otherwise. */
export interface NameScope {
  /** Reserves and returns an unused name: `wanted`, or `wanted` with the first free suffix "_1", "_2", … */
  take(wanted: string): string;
}

export function makeNameScope(graph: Graph): NameScope {
  const taken = new Set<string>();
  collectValueNames(graph, taken);
  return makeScope(taken);
}

/** The names of the nodes of a graph, without those of its subgraphs. */
export function makeNodeNameScope({ nodes }: Graph): NameScope {
  return makeScope(new Set([...nodes.values()].map(({ name }) => name)));
}

function makeScope(taken: Set<string>): NameScope {
  /** The next suffix to try for each name; names are never released. */
  const next = new Map<string, number>();
  return {
    take(wanted) {
      let name = wanted;
      for (let n = next.get(wanted) ?? 1; taken.has(name); n++) {
        name = `${wanted}_${n}`;
        next.set(wanted, n + 1);
      }
      taken.add(name);
      return name;
    },
  };
}
