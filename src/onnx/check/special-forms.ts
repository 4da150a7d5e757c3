/** Checks that schemas cannot express: a Constant has one value, and subgraphs match the inputs and outputs of their node. */
import { countOf } from '../../base/text/count-of.js';
import type { Graph, Node } from '../ir/model.js';
import type { OperatorSchema } from '../schemas/operator-schema.js';
import { describe, type Report } from './problem.js';

export function checkSpecialForm(graph: Graph, node: Node, { since }: OperatorSchema, report: Report): void {
  if (node.domain !== '') return;
  if (node.opType === 'Constant') checkConstant(graph, node, report);
  for (const [name, ends] of endsOfSubgraphs(node, since)) {
    const attribute = node.attributes.get(name);
    if (attribute?.kind !== 'graph') continue;
    const { inputs, outputs } = attribute.value;
    for (const [side, has, wanted] of [
      ['input', inputs.length, ends.inputs],
      ['output', outputs.length, ends.outputs],
    ] as const) {
      if (has !== wanted) report(`${side}-count`, `${describe(graph, node)}: its ${name} has ${countOf(has, side)}, expected ${wanted}`);
    }
  }
}

/** A Constant must have exactly one of its attributes, all of which are values. */
function checkConstant(graph: Graph, node: Node, report: Report): void {
  const given = [...node.attributes.keys()].filter(name => name === 'sparse_value' || name.startsWith('value'));
  if (given.length === 0) report('missing-attribute', `${describe(graph, node)} has no value attribute`);
  if (given.length > 1) report('unknown-attribute', `${describe(graph, node)} has several value attributes: ${given.join(', ')}`);
}

type Ends = readonly [attribute: string, ends: { readonly inputs: number; readonly outputs: number }];

/** Expected numbers of inputs and outputs of the subgraphs of a node. (ONNX operator specifications of If 1, Loop 1, Scan 9.) */
function endsOfSubgraphs({ opType, inputs, outputs }: Node, since: number): readonly Ends[] {
  switch (opType) {
    case 'If':
      return ['then_branch', 'else_branch'].map((name): Ends => [name, { inputs: 0, outputs: outputs.length }]);
    case 'Loop':
      return [['body', { inputs: inputs.length, outputs: outputs.length + 1 }]];
    case 'Scan':
      // Before operator set 9, the first input of Scan holds the sequence lengths.
      return [['body', { inputs: since < 9 ? inputs.length - 1 : inputs.length, outputs: outputs.length }]];
    default:
      return [];
  }
}
