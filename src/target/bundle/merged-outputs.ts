/** Joins the outputs of a model into one, for devices that compute models with several outputs wrong, and takes them apart again. */
import { int } from '../../onnx/ir/attribute.js';
import { cloneModel } from '../../onnx/ir/clone.js';
import { addNode, addValue, getValue } from '../../onnx/ir/edit.js';
import type { Model } from '../../onnx/ir/model.js';
import { makeNameScope } from '../../onnx/ir/name-scope.js';
import { sortTopologically } from '../../onnx/ir/sort.js';
import { isStatic } from '../../onnx/shape-inference/context/dims.js';
import { inferShapes, writeTypes } from '../../onnx/shape-inference/infer-shapes.js';
import { countElements } from '../../tensor/shape.js';
import { makeTensor, type Tensor } from '../../tensor/tensor.js';
import { TargetError } from '../report/target-error.js';
import { formatSizes, tensorOf } from '../units/unit-facts.js';

/** How the host finds the outputs in the one that the device computes. */
export type MergedOutputs = {
  readonly name: string;
  /** In the order in which they lie behind each other. */
  readonly outputs: readonly { readonly name: string; readonly dims: readonly number[] }[];
};

export interface Merged {
  readonly model: Model;
  /** Absent for a model with one output, which stays as it is. */
  readonly merged?: MergedOutputs;
}

/** Flattens each output to one row and joins the rows. `model` is not changed. @throws TargetError `outputs-not-merged` for outputs that are no float32 of fixed size. */
export function mergeOutputs(name: string, model: Model): Merged {
  if (model.graph.outputs.length < 2) return { model };
  const copy = cloneModel(model);
  const { graph } = copy;
  sortTopologically(graph);
  writeTypes(copy, inferShapes(copy));
  const outputs = graph.outputs.map(id => {
    const { name: output, dtype, dims } = tensorOf(copy, id);
    if (dtype === 'float32' && isStatic(dims)) return { name: output, dims };
    throw new TargetError(
      'outputs-not-merged',
      `model "${name}": output "${output}" is ${dtype ?? 'of unknown type'} ${formatSizes(dims ?? [])}`,
      {
        help: '`outputs: merged` joins float32 outputs of fixed size: pin the sizes, or set `outputs: separate`',
      },
    );
  });
  const names = makeNameScope(graph);
  const rows = graph.outputs.map(id => {
    const row = addValue(copy, graph, names.take(`${getValue(graph, id).name}_row`), { type: undefined });
    addNode(copy, graph, { opType: 'Flatten', inputs: [id], outputs: [row.id], attributes: new Map([['axis', int(0)]]) });
    return row.id;
  });
  const joined = addValue(copy, graph, names.take('merged_outputs'), { type: undefined });
  addNode(copy, graph, { opType: 'Concat', inputs: rows, outputs: [joined.id], attributes: new Map([['axis', int(1)]]) });
  graph.outputs = [joined.id];
  writeTypes(copy, inferShapes(copy));
  return { model: copy, merged: { name: joined.name, outputs } };
}

/** The outputs by name. */
export function takeApart({ outputs }: MergedOutputs, joined: Tensor): ReadonlyMap<string, Tensor> {
  const found = new Map<string, Tensor>();
  if (joined.dtype !== 'float32') return found;
  let from = 0;
  for (const { name, dims } of outputs) {
    const end = from + countElements(dims);
    found.set(name, makeTensor('float32', dims, joined.data.slice(from, end)));
    from = end;
  }
  return found;
}
