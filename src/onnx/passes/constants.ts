/** Passes over constants: overridable initializers are removed from the model's inputs, Constant nodes become initializers, and equal initializers are merged. */
import { createHash } from 'node:crypto';
import { encodeCanonicalJson } from '../../base/json/canonical-json.js';
import { removeNode, removeValue, replaceUses, subgraphsOf } from '../ir/edit.js';
import type { Constant, Graph, Model, ValueId } from '../ir/model.js';
import { scopesOf } from '../ir/scope.js';
import { findConstantOf } from '../shape-inference/context/constant-node.js';
import type { Pass } from './pass.js';

/** From this IR version on, initializers need not be inputs. */
const FREE_INITIALIZERS = 4;

/**
 * Exact for callers that feed only inputs without a default. Older exporters also list every weight as an input, so that a caller could override it and no
 * reader of it is constant; these inputs are removed. Inputs without an initializer are kept.
 */
export const freeInitializers: Pass = {
  name: 'free-initializers',
  proof: 'exact',
  proofText: 'Weights that are also listed as inputs can no longer be overridden by a caller; results change only for callers that did so.',
  async run(model) {
    return { changed: freeInitializersOf(model), declined: [] };
  },
};

/** Removes inputs that have an initializer from the model's inputs; returns their names. */
export function freeInitializersOf(model: Model): string[] {
  const { graph } = model;
  const isInitializer = (id: ValueId): boolean => graph.values.get(id)?.constant !== undefined;
  const changed = graph.inputs.filter(isInitializer).map(id => graph.values.get(id)?.name ?? '');
  graph.inputs = graph.inputs.filter(id => !isInitializer(id));
  if (model.irVersion < FREE_INITIALIZERS) model.irVersion = FREE_INITIALIZERS;
  return changed;
}

/** Exact. A Constant node's output becomes an initializer of the same name. */
export const constantsToInitializers: Pass = {
  name: 'constants-to-initializers',
  proof: 'exact',
  proofText: 'A Constant node holds the same bytes as an initializer.',
  async run(model) {
    return { changed: [...scopesOf(model)].flatMap(({ graph }) => hoistConstants(graph)), declined: [] };
  },
};

/** Turns outputs of Constant nodes into initializers with the same ids and names, also where they are outputs of the graph; returns the names. */
export function hoistConstants(graph: Graph): string[] {
  const changed: string[] = [];
  for (const node of [...graph.nodes.values()]) {
    const [output] = node.outputs;
    const constant = findConstantOf(node);
    const value = output === undefined ? undefined : graph.values.get(output);
    if (constant === undefined || value === undefined) continue;
    removeNode(graph, node.id);
    value.constant = constant;
    value.type = { kind: 'tensor', dtype: constant.dtype, dims: constant.dims };
    changed.push(value.name);
  }
  return changed;
}

/** Exact. Of several initializers with equal dtype, shape and bytes, the outermost is kept, or the first in the order of the table. */
export const mergeInitializers: Pass = {
  name: 'merge-initializers',
  proof: 'exact',
  proofText: 'Initializers of equal dtype, shape and bytes hold the same values.',
  async run(model) {
    return { changed: mergeEqual(model.graph, new Map()), declined: [] };
  },
};

/** @param outer constants of the outer graphs, by content. */
function mergeEqual(graph: Graph, outer: ReadonlyMap<string, ValueId>): string[] {
  const first = new Map(outer);
  const others = new Map<ValueId, ValueId>();
  const changed: string[] = [];
  for (const value of [...graph.values.values()]) {
    if (value.constant === undefined || graph.outputs.includes(value.id)) continue;
    if (graph.inputs.includes(value.id)) continue;
    const key = digestOf(value.constant);
    const other = first.get(key);
    if (other === undefined) {
      first.set(key, value.id);
      continue;
    }
    others.set(value.id, other);
    removeValue(graph, value.id);
    changed.push(value.name);
  }
  if (others.size > 0) replaceUses(graph, others);
  for (const node of graph.nodes.values()) for (const sub of subgraphsOf(node)) changed.push(...mergeEqual(sub, first));
  return changed;
}

function digestOf(constant: Constant): string {
  const hash = createHash('sha256').update(encodeCanonicalJson([constant.dtype, [...constant.dims]]));
  if (constant.dtype === 'string') hash.update(encodeCanonicalJson([...constant.data]));
  else hash.update(constant.bytes);
  return hash.digest('hex');
}
