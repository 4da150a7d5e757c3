/** Cuts a head where it flattens its map, so that the host can lay out the rows again, as channels, between the two models. */
import { getDefined } from '../../base/invariant.js';
import { cloneModel } from '../ir/clone.js';
import { getValue } from '../ir/edit.js';
import type { Graph, Model, Node, ValueId } from '../ir/model.js';
import { OnnxError } from '../ir/onnx-error.js';
import { sortTopologically } from '../ir/sort.js';
import { inferShapes, writeTypes } from '../shape-inference/infer-shapes.js';
import { extractSubgraph } from '../surgery/extract.js';
import { renameValues } from '../surgery/rename.js';

export interface CutHead {
  /** From the inputs to the map that is flattened. */
  readonly map: Model;
  /** From the flattened rows [N, size] to the outputs. Its input has the name of the other model's output. */
  readonly rows: Model;
}

/** Undefined if no operator before the Flatten computes. @throws OnnxError `tiles-cut` if there are several Flatten; `cut-open`. */
export function cutAtFlatten(model: Model): CutHead | undefined {
  const typed = cloneModel(model);
  sortTopologically(typed.graph);
  writeTypes(typed, inferShapes(typed));
  const { graph } = typed;
  const flattens = [...graph.nodes.values()].filter(node => isFlatten(graph, node) && hasWorkBefore(graph, node));
  const [flatten] = flattens;
  if (flatten === undefined) return undefined;
  if (flattens.length > 1) {
    throw new OnnxError(
      'tiles-cut',
      `the head flattens ${flattens.length} maps, expected one: ${flattens.map(({ name }) => name).join(', ')}`,
      {
        help: 'use another form than `cut`',
      },
    );
  }
  const nameOf = (id: ValueId | undefined): string => getValue(graph, getDefined(id, 'a value of Flatten')).name;
  const namesOf = (ids: readonly ValueId[]): string[] => ids.map(nameOf);
  const [from, to] = [nameOf(flatten.inputs[0]), nameOf(flatten.outputs[0])];
  const map = extractSubgraph(typed, { inputs: namesOf(graph.inputs), outputs: [from] });
  const rows = extractSubgraph(typed, { inputs: [to], outputs: namesOf(graph.outputs) });
  renameValues(rows, [{ from: to, to: from }]);
  return { map, rows };
}

/** From rank 4 to rank 2. */
function isFlatten(graph: Graph, { opType, inputs, outputs }: Node): boolean {
  const rankOf = (id: ValueId | undefined): number | undefined => {
    const type = id === undefined ? undefined : graph.values.get(id)?.type;
    return type?.kind === 'tensor' ? type.dims?.length : undefined;
  };
  return (opType === 'Flatten' || opType === 'Reshape') && rankOf(inputs[0]) === 4 && rankOf(outputs[0]) === 2;
}

const COPIES = new Set(['QuantizeLinear', 'DequantizeLinear', 'Identity']);

function hasWorkBefore(graph: Graph, node: Node): boolean {
  const [input] = node.inputs;
  const producer = input === undefined ? undefined : graph.values.get(input)?.producer;
  if (producer === undefined) return false;
  const before = graph.nodes.get(producer);
  return before !== undefined && (!COPIES.has(before.opType) || hasWorkBefore(graph, before));
}
