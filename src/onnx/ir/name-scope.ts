/** How does an edit that adds many values find free names fast? It keeps the set of taken ones. */
import { collectValueNames } from './edit.js';
import type { Graph } from './model.js';

/** The taken value names of a graph and of every graph inside it. It learns of names that `take` gives, not of values added beside it. */
export interface NameScope {
  /** A free name: `wanted`, or `wanted` with the first free "_1", "_2", …; taken from now on. */
  take(wanted: string): string;
}

export function makeNameScope(graph: Graph): NameScope {
  const taken = new Set<string>();
  collectValueNames(graph, taken);
  /** The number to try next for each name: what was taken stays taken. */
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
