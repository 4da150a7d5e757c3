/** How does a piece come out of an exported detector? Cut between values of the whole, under names of ours, with types that a runtime needs. */

import { findValueByName, freshName, getValue } from '../../../../onnx/ir/edit.js';
import type { Model, ValueId, ValueType } from '../../../../onnx/ir/model.js';
import { inferShapes, writeTypes } from '../../../../onnx/shape-inference/infer-shapes.js';
import { extractSubgraph } from '../../../../onnx/surgery/extract.js';

/** A value of the whole where a piece begins or ends. */
export interface NamedValue {
  readonly id: ValueId;
  /** What the piece calls it. */
  readonly name: string;
}

export interface TypedInput extends NamedValue {
  readonly type: ValueType;
}

/** The piece of `whole` between `inputs` and `outputs`; `whole` is not changed. @throws OnnxError `cut-open`. */
export function extractNamed(whole: Model, inputs: readonly TypedInput[], outputs: readonly NamedValue[]): Model {
  const nameInWhole = ({ id }: NamedValue): string => getValue(whole.graph, id).name;
  const piece = extractSubgraph(whole, { inputs: inputs.map(nameInWhole), outputs: outputs.map(nameInWhole) });
  for (const { id, name } of [...inputs, ...outputs]) rename(piece, id, name);
  for (const { id, type } of inputs) getValue(piece.graph, id).type = type;
  writeTypes(piece, inferShapes(piece, { stated: 'ignore' }));
  return piece;
}

/** Another value that has the name gets a new one. */
function rename({ graph }: Model, id: ValueId, name: string): void {
  const value = getValue(graph, id);
  if (value.name === name) return;
  const other = findValueByName(graph, name);
  if (other !== undefined) other.name = freshName(graph, `${name}_inner`);
  value.name = name;
}
