/** Collapses a model's graph by the scopes of its node names, so that large graphs become boxes that open. */

import type { ModelView, NodeView } from '../../../onnx/describe/model-view.js';
import type { GraphEdge } from '../../../report/graph-edges.js';

/** A box: one node, or a scope with several. */
export interface ModelBox {
  readonly id: string;
  readonly kind: 'node' | 'scope';
  readonly title: string;
  readonly nodes: readonly NodeView[];
  /** Nodes that only prepare constants of the box, such as the DequantizeLinear of a weight. */
  readonly hidden: number;
}

export interface CollapsedGraph {
  readonly boxes: readonly ModelBox[];
  readonly edges: readonly GraphEdge[];
}

/** Scopes of every drawn node, outermost first, without the node itself. */
export interface ScopedModel {
  readonly nodes: readonly NodeView[];
  readonly scopesOf: ReadonlyMap<string, readonly string[]>;
  /** Nodes without data inputs, by the node that reads them. */
  readonly hidden: ReadonlyMap<string, number>;
  readonly producerOf: ReadonlyMap<string, NodeView>;
}

/** Nodes without scopes are put together in runs of this many. */
const RUN = 25;

export function scopeModel({ nodes, values }: ModelView): ScopedModel {
  const producers = new Map<string, NodeView>();
  const constants = new Set<string>();
  for (const node of nodes) {
    const isConstant = node.inputs.every(
      name => name === null || name === '' || values[name]?.constant !== undefined || constants.has(name),
    );
    for (const name of node.outputs) {
      if (name === null) continue;
      producers.set(name, node);
      if (isConstant) constants.add(name);
    }
  }
  const drawn = nodes.filter(({ outputs }) => !outputs.some(name => name !== null && constants.has(name)));
  const shown = drawn.length === 0 ? nodes : drawn;
  const hidden = new Map<string, number>();
  for (const { id, inputs } of shown) hidden.set(id, inputs.filter(name => name !== null && constants.has(name)).length);
  const scopes = shown.map(({ id }) => splitScopes(id));
  const withScopes = scopes.filter(one => one.length > 0).length;
  const scopesOf = new Map(
    shown.map(({ id }, index): [string, readonly string[]] => {
      const own = scopes[index] ?? [];
      if (withScopes * 2 >= shown.length) return [id, own];
      const run = Math.floor(index / RUN);
      return [id, shown.length <= RUN * 2 ? [] : [`nodes ${run * RUN + 1} … ${Math.min(shown.length, (run + 1) * RUN)}`]];
    }),
  );
  return { nodes: shown, scopesOf, hidden, producerOf: producers };
}

/** "/backbone/body/conv1/Conv" → ["backbone", "backbone/body", "backbone/body/conv1"]. */
function splitScopes(name: string): readonly string[] {
  const parts = name.split('/').filter(part => part !== '');
  return parts.slice(0, -1).map((_, index) => parts.slice(0, index + 1).join('/'));
}

/** @param open the scopes whose content is drawn; a scope inside a closed one is not. */
export function collapse({ nodes, scopesOf, hidden, producerOf }: ScopedModel, open: ReadonlySet<string>): CollapsedGraph {
  const boxOf = new Map<string, string>();
  const members = new Map<string, NodeView[]>();
  for (const node of nodes) {
    const closed = scopesOf.get(node.id)?.find(scope => !open.has(scope));
    const id = closed === undefined ? `n ${node.id}` : `s ${closed}`;
    boxOf.set(node.id, id);
    const own = members.get(id);
    if (own === undefined) members.set(id, [node]);
    else own.push(node);
  }
  const edges = new Map<string, GraphEdge>();
  for (const node of nodes) {
    const to = boxOf.get(node.id) ?? '';
    for (const name of node.inputs) {
      const from = name === null ? undefined : boxOf.get(producerOf.get(name)?.id ?? '');
      if (from !== undefined && from !== to) edges.set(`${from}\n${to}`, { from, to });
    }
  }
  const boxes = [...members].map(([id, own]): ModelBox => {
    const isNode = id.startsWith('n ');
    const name = id.slice(2);
    return {
      id,
      kind: isNode ? 'node' : 'scope',
      title: isNode ? (own[0]?.op ?? '') : name,
      nodes: own,
      hidden: own.reduce((sum, node) => sum + (hidden.get(node.id) ?? 0), 0),
    };
  });
  return { boxes, edges: [...edges.values()] };
}

/** Opens scopes, outermost and smallest first, as long as at most `most` boxes are drawn. */
export function openScopes(model: ScopedModel, most: number): ReadonlySet<string> {
  const open = new Set<string>();
  let boxes = collapse(model, open).boxes;
  for (;;) {
    const scopes = boxes.filter(({ kind }) => kind === 'scope').sort((a, b) => a.nodes.length - b.nodes.length);
    let grew = false;
    for (const { title } of scopes) {
      const next = collapse(model, new Set([...open, title])).boxes;
      if (next.length > most) continue;
      open.add(title);
      boxes = next;
      grew = true;
      break;
    }
    if (!grew) return open;
  }
}

/** The scopes that must be open for a node to be drawn. */
export function scopesToOpen({ scopesOf }: ScopedModel, node: string): readonly string[] {
  return scopesOf.get(node) ?? [];
}
