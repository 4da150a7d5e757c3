/** Checks that the types of subgraph inputs and outputs match those of their node (If, Loop, Scan). */
import type { Graph, Node, ValueId } from '../ir/model.js';
import type { ValueTypes } from './node-types.js';
import { describe, nameOf, type Report } from './problem.js';

/** Reports different types; unknown types match all. `types` has the types of the inputs and outputs of the node and of the values in its subgraphs. */
export function checkSubgraphTypes(graph: Graph, node: Node, types: ValueTypes, report: Report): void {
  if (node.domain !== '') return;
  for (const name of ['then_branch', 'else_branch', 'body']) {
    const attribute = node.attributes.get(name);
    if (attribute?.kind !== 'graph') continue;
    for (const { outer, inner, side } of pairsOf(node, attribute.value)) {
      const [given, has] = [typeOf(types, outer), typeOf(types, inner)];
      if (outer === undefined || inner === undefined || given === undefined || has === undefined || contentOf(given) === contentOf(has))
        continue;
      const label = `${describe(graph, node)}: its ${side}, ${nameOf(graph, outer)}, is ${given}`;
      report('type-conflict', `${label}, that of its ${name}, ${nameOf(attribute.value, inner)}, is ${has}; they must have the same type`);
    }
  }
}

const typeOf = (types: ValueTypes, id: ValueId | undefined): string | undefined => (id === undefined ? undefined : types.get(id));

/** The content of an optional type: a Loop may receive an optional and carry its content. */
const contentOf = (type: string): string => /^optional\((.*)\)$/.exec(type)?.[1] ?? type;

interface Pair {
  readonly outer: ValueId | undefined;
  readonly inner: ValueId | undefined;
  readonly side: 'input' | 'output';
}

/** Pairs of corresponding values of the node and its subgraph. (ONNX operator specifications of If 1, Loop 1, Scan 9.) */
function pairsOf(node: Node, sub: Graph): readonly Pair[] {
  const { inputs, outputs } = node;
  const given = (outer: readonly (ValueId | undefined)[], inner: readonly ValueId[]): Pair[] =>
    outer.map((id, index) => ({ outer: id, inner: inner[index], side: 'input' }));
  const results = (inner: readonly ValueId[]): Pair[] => outputs.map((id, index) => ({ outer: id, inner: inner[index], side: 'output' }));
  switch (node.opType) {
    case 'If':
      return results(sub.outputs);
    case 'Loop': {
      const carried = inputs.slice(2);
      return [...given(carried, sub.inputs.slice(2)), ...given(carried, sub.outputs.slice(1)), ...results(sub.outputs.slice(1))];
    }
    case 'Scan': {
      const scanned = node.attributes.get('num_scan_inputs');
      // Before operator set 9, the first input of Scan holds the sequence lengths.
      if (scanned?.kind !== 'int' || inputs.length !== sub.inputs.length) return [];
      const states = inputs.slice(0, Math.max(0, inputs.length - Number(scanned.value)));
      return [...given(inputs, sub.inputs), ...given(states, sub.outputs), ...results(sub.outputs)];
    }
    default:
      return [];
  }
}
