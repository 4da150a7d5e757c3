/** Detection of model outputs that are computed by a Sigmoid, directly or through operators that only move elements. */
import type { Graph, Model, ValueId } from '../ir/model.js';

/** Operators whose outputs contain only elements of their inputs. */
const MOVES: ReadonlySet<string> = new Set([
  'Concat',
  'Expand',
  'Flatten',
  'Gather',
  'Identity',
  'Reshape',
  'Slice',
  'Split',
  'Squeeze',
  'Tile',
  'Transpose',
  'Unsqueeze',
]);

/** Names of the outputs with at least one element that comes from a Sigmoid. */
export function findSigmoidOutputs({ graph }: Model): ReadonlySet<string> {
  const outputs = graph.outputs.map(id => graph.values.get(id)).filter(value => value !== undefined);
  return new Set(outputs.filter(({ id }) => comesFromSigmoid(graph, id)).map(({ name }) => name));
}

/** Walks backwards without recursion, because chains may be long. */
function comesFromSigmoid(graph: Graph, output: ValueId): boolean {
  const waiting = [output];
  const seen = new Set<ValueId>();
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    const producer = graph.values.get(id)?.producer;
    const node = producer === undefined ? undefined : graph.nodes.get(producer);
    if (seen.has(id) || node?.domain !== '') continue;
    seen.add(id);
    if (node.opType === 'Sigmoid') return true;
    if (MOVES.has(node.opType)) waiting.push(...node.inputs.filter(input => input !== undefined));
  }
  return false;
}
