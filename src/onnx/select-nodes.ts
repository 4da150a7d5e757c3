/** Which nodes does a user mean? Selectors by name, operator or both; one that matches nothing is an error, never silence. */
import { findClosest } from '../base/did-you-mean.js';
import type { Graph, Node } from './ir/model.js';
import { OnnxError } from './onnx-error.js';

/**
 * Text is a node's name. In an object, every field given must match: `name` the node's name, `op` its operator, `output` a value that it gives.
 * In all of them `*` stands for any characters.
 */
export type NodeSelector = string | { readonly name?: string; readonly op?: string; readonly output?: string };

/** The JSON Schema of a selector, for the params of plugins. */
export const NODE_SELECTOR_SCHEMA = {
  anyOf: [
    { type: 'string', minLength: 1 },
    {
      type: 'object',
      additionalProperties: false,
      minProperties: 1,
      properties: {
        name: { type: 'string', minLength: 1 },
        op: { type: 'string', minLength: 1 },
        output: { type: 'string', minLength: 1 },
      },
    },
  ],
  description: 'A node: its name, or {name, op, output} that must all match. `*` stands for any characters.',
} as const;

/**
 * The nodes of `graph` (not of its sub-graphs) that `selector` means, in graph order; at least one.
 * @throws OnnxError `selector-matches-nothing`, with the closest name.
 */
export function selectNodes(graph: Graph, selector: NodeSelector): Node[] {
  const { name, op, output } = typeof selector === 'string' ? { name: selector, op: undefined, output: undefined } : selector;
  const matches = [matcher(name), matcher(op), matcher(output)] as const;
  const found = [...graph.nodes.values()].filter(
    node => matches[0](node.name) && matches[1](node.opType) && (output === undefined || outputNames(graph, node).some(matches[2])),
  );
  if (found.length === 0) throw matchesNothing(graph, selector);
  return found;
}

function matcher(pattern: string | undefined): (text: string) => boolean {
  if (pattern === undefined) return () => true;
  if (!pattern.includes('*')) return text => text === pattern;
  const pieces = pattern.split('*');
  return text => matchesPieces(text, pieces);
}

/** Whether the pieces stand in `text` in order, the first at its start and the last at its end. No regular expression: no pattern is slow. */
function matchesPieces(text: string, pieces: readonly string[]): boolean {
  const [first = '', ...rest] = pieces;
  const last = rest.pop() ?? '';
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false;
  let at = first.length;
  for (const piece of rest) {
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return at <= text.length - last.length;
}

function outputNames(graph: Graph, node: Node): string[] {
  return node.outputs.flatMap(id => (id === undefined ? [] : [graph.values.get(id)?.name ?? '']));
}

function matchesNothing(graph: Graph, selector: NodeSelector): OnnxError {
  const { name, op, output } = typeof selector === 'string' ? { name: selector, op: undefined, output: undefined } : selector;
  const nodes = [...graph.nodes.values()];
  const closest =
    (name === undefined ? undefined : findClosest(name, nodes.map(node => node.name).filter(Boolean))) ??
    (op === undefined ? undefined : findClosest(op, new Set(nodes.map(node => node.opType)))) ??
    (output === undefined
      ? undefined
      : findClosest(
          output,
          nodes.flatMap(node => outputNames(graph, node)),
        ));
  const options = closest === undefined ? {} : { help: `did you mean "${closest}"?` };
  return new OnnxError('selector-matches-nothing', `no node of graph "${graph.name}" matches ${JSON.stringify(selector)}`, options);
}
