/** Renaming of values and nodes. All renames apply at once, so that names can be swapped. */
import { describeNear, findNear } from '../../base/text/did-you-mean.js';
import { subgraphsOf } from '../ir/edit.js';
import type { Graph, Model } from '../ir/model.js';
import { OnnxError } from '../ir/onnx-error.js';
import { makeNameMatcher } from '../selection/name-pattern.js';
import { renameInAnnotations } from './annotations.js';

/** A `*` in `from` matches any characters, and the `*` in `to` is replaced by them. */
export interface Rename {
  readonly from: string;
  readonly to: string;
}

/**
 * Renames values of `model`, including subgraphs, quantization annotations and sparse initializers.
 * @returns the renames that were done. If it throws, the model is unchanged.
 * @throws OnnxError `selector-matches-nothing` with similar names, `bad-rename`, `name-taken`.
 */
export function renameValues(model: Model, renames: readonly Rename[]): readonly Rename[] {
  const graphs = [...allGraphs(model.graph)];
  const values = graphs.flatMap(graph => [...graph.values.values()]);
  const planned = planRenames(values, renames, 'value');
  const nameOf = (value: { readonly name: string }): string => planned.get(value) ?? value.name;
  assertDistinct(model.graph, nameOf, new Map());
  const done = [...planned].map(([{ name }, to]): Rename => ({ from: name, to }));
  for (const [value, name] of planned) value.name = name;
  const names = new Map(done.map(({ from, to }) => [from, to]));
  for (const graph of graphs) graph.unknown = renameInAnnotations(graph.unknown, names);
  return done;
}

/**
 * Renames nodes, including those of subgraphs.
 * @returns the renames that were done. If it throws, the model is unchanged.
 * @throws OnnxError as `renameValues`: ONNX allows nodes to share a name, but a rename must not create such a pair.
 */
export function renameNodes(model: Model, renames: readonly Rename[]): readonly Rename[] {
  const nodes = [...allGraphs(model.graph)].flatMap(graph => [...graph.nodes.values()]);
  const planned = planRenames(nodes, renames, 'node');
  const kept = new Set(nodes.filter(node => !planned.has(node)).map(({ name }) => name));
  const given = new Set<string>();
  for (const name of planned.values()) {
    if (kept.has(name) || given.has(name)) throw nameTaken('node', name);
    given.add(name);
  }
  const done = [...planned].map(([{ name }, to]): Rename => ({ from: name, to }));
  for (const [node, name] of planned) node.name = name;
  return done;
}

function* allGraphs(graph: Graph): Generator<Graph> {
  yield graph;
  for (const node of graph.nodes.values()) for (const sub of subgraphsOf(node)) yield* allGraphs(sub);
}

interface Named {
  name: string;
}

function planRenames<T extends Named>(things: readonly T[], renames: readonly Rename[], what: 'value' | 'node'): Map<Named, string> {
  const planned = new Map<Named, string>();
  for (const { from, to } of renames) {
    const rename = makeRename({ from, to });
    const found = things.filter(({ name }) => name !== '' && makeNameMatcher(from)(name));
    if (found.length === 0) {
      const near = findNear(
        from,
        things.map(({ name }) => name),
      );
      const help = near.length === 0 ? {} : { help: describeNear(near) };
      throw new OnnxError('selector-matches-nothing', `no ${what} matches "${from}"`, help);
    }
    for (const thing of found) {
      if (planned.has(thing)) throw new OnnxError('bad-rename', `two renames match the ${what} "${thing.name}"`);
      planned.set(thing, rename(thing.name));
    }
  }
  return planned;
}

function makeRename({ from, to }: Rename): (name: string) => string {
  const [stars, others] = [from, to].map(text => text.split('*').length - 1);
  if (to === '' || from.startsWith('re:') || stars !== others || (stars ?? 0) > 1) {
    throw new OnnxError('bad-rename', `"${from}" cannot become "${to}"`, {
      help: 'both must be plain names, or both must contain one "*", for example "backbone/*" and "body/*"',
    });
  }
  if (stars === 0) return () => to;
  const [before = '', after = ''] = from.split('*');
  const [newBefore = '', newAfter = ''] = to.split('*');
  return name => `${newBefore}${name.slice(before.length, name.length - after.length)}${newAfter}`;
}

type Origin = 'kept' | 'renamed';

/** Checks that no renamed value has the name of another value of its graph or of an outer one. Duplicates that existed before are ignored. */
function assertDistinct(graph: Graph, nameOf: (value: Named) => string, outer: ReadonlyMap<string, Origin>): void {
  const names = new Map<string, Origin>();
  for (const value of graph.values.values()) {
    const name = nameOf(value);
    const origin = name === value.name ? 'kept' : 'renamed';
    const other = names.get(name) ?? outer.get(name);
    if (other !== undefined && (other === 'renamed' || origin === 'renamed')) throw nameTaken('value', name);
    names.set(name, origin);
  }
  const all = new Map([...outer, ...names]);
  for (const node of graph.nodes.values()) for (const sub of subgraphsOf(node)) assertDistinct(sub, nameOf, all);
}

function nameTaken(what: string, name: string): OnnxError {
  return new OnnxError('name-taken', `the name "${name}" is already used by another ${what}`, {
    help: 'rename the other one too, or choose another name',
  });
}
