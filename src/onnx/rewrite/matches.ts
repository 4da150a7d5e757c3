/** Selection of nodes with a check of their number: exactly one, unless 'any' is requested. */
import type { Graph, Node } from '../ir/model.js';
import { OnnxError } from '../ir/onnx-error.js';
import type { Matches, NodeSelector } from '../selection/node-selector.js';
import { selectNodes } from '../selection/select-nodes.js';
import { describeNode } from '../shape-inference/context/node-context.js';

/** Maximum number of candidates that a message lists. */
const SHOWN = 8;

/**
 * The nodes that `selector` matches.
 * @throws OnnxError `selector-matches-nothing` with the closest name; `selector-matches-several` with the candidates.
 */
export function selectMatching(graph: Graph, selector: NodeSelector, matches: Matches): readonly Node[] {
  const found = findMatching(graph, selector, matches);
  if (matches === 'one' && found.length > 1)
    throw severalMatches(
      JSON.stringify(selector),
      found.map(node => describeNode(node, graph)),
    );
  return found;
}

function findMatching(graph: Graph, selector: NodeSelector, matches: Matches): readonly Node[] {
  try {
    return selectNodes(graph, selector);
  } catch (error) {
    if (matches === 'any' && error instanceof OnnxError && error.code === 'selector-matches-nothing') return [];
    throw error;
  }
}

export function severalMatches(what: string, candidates: readonly string[], of = 'nodes'): OnnxError {
  const listed = candidates.slice(0, SHOWN).join(', ');
  const more = candidates.length > SHOWN ? ` and ${candidates.length - SHOWN} more` : '';
  return new OnnxError('selector-matches-several', `${what} matches ${candidates.length} ${of}, expected one: ${listed}${more}`, {
    help: 'select one of them by name, or set `matches: any`',
    details: { candidates: [...candidates] },
  });
}
