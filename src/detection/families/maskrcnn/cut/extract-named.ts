/** Extracts a subgraph of a detector between given values, renames its inputs and outputs, and sets their types. */

import { findValueByName, freshName, getValue } from '../../../../onnx/ir/edit.js';
import type { Model, ValueId, ValueType } from '../../../../onnx/ir/model.js';
import { inferShapes, writeTypes } from '../../../../onnx/shape-inference/infer-shapes.js';
import { extractSubgraph } from '../../../../onnx/surgery/extract.js';

/** A value of the whole where a subgraph begins or ends. */
export interface NamedValue {
  readonly id: ValueId;
  /** Name of the value in the subgraph. */
  readonly name: string;
}

export interface TypedInput extends NamedValue {
  readonly type: ValueType;
}

/** The subgraph of `whole` between `inputs` and `outputs`. `whole` is not changed. @throws OnnxError `cut-open`. */
export function extractNamed(whole: Model, inputs: readonly TypedInput[], outputs: readonly NamedValue[]): Model {
  const nameInWhole = ({ id }: NamedValue): string => getValue(whole.graph, id).name;
  const part = extractSubgraph(whole, { inputs: inputs.map(nameInWhole), outputs: outputs.map(nameInWhole) });
  for (const { id, name } of [...inputs, ...outputs]) rename(part, id, name);
  for (const { id, type } of inputs) getValue(part.graph, id).type = type;
  writeTypes(part, inferShapes(part, { stated: 'ignore' }));
  return part;
}

/** Another value with the same name gets a new name. */
function rename({ graph }: Model, id: ValueId, name: string): void {
  const value = getValue(graph, id);
  if (value.name === name) return;
  const other = findValueByName(graph, name);
  if (other !== undefined) other.name = freshName(graph, `${name}_inner`);
  value.name = name;
}
