/** The public API of the ONNX library: models in memory and in files, and operations on them. `runtime/onnx-public` adds operations that run models. */

export { type ModelStats, measureModel, type NodeStats } from './analysis/model-stats.js';
export { assertModel, type CheckDepth, checkModel, type ModelProblem, type ModelProblemCode } from './check/check-model.js';
export { listUnchecked, type Unchecked } from './check/operators.js';
export { diffModels } from './diff/diff-models.js';
export type { Difference } from './diff/difference.js';
export { float, floats, int, ints, string, tensor } from './ir/attribute.js';
export { cloneModel } from './ir/clone.js';
export {
  addInitializer,
  addInput,
  addNode,
  findValueByName,
  getNode,
  getValue,
  indexUses,
  makeModel,
  type NewNode,
  replaceAllUses,
  subgraphsOf,
  type Use,
} from './ir/edit.js';
export type { Attribute, Constant, Dim, Graph, Model, Node, NodeId, Value, ValueId, ValueType } from './ir/model.js';
export { OnnxError } from './ir/onnx-error.js';
export { sortTopologically } from './ir/sort.js';
export { type ConversionRecord, convertOpset } from './opset/convert-opset.js';
export type { SimplifyDecline, SimplifyStep } from './passes/run-round.js';
export type { Simplified } from './passes/simplify.js';
export type { Edit } from './rewrite/edit-schema.js';
export type { EditRecord } from './rewrite/edits.js';
export type { RewriteRecord } from './rewrite/rewrite-model.js';
export type { NodeFields, NodeSelector } from './selection/node-selector.js';
export { selectNodes } from './selection/select-nodes.js';
export { decodeModel } from './serde/decode-model.js';
export { encodeModel } from './serde/encode-model.js';
export { byteLengthOf } from './serde/file-constant.js';
export { type ReadOptions, readModel, type WriteOptions, writeModel } from './serde/model-file.js';
export type { Known } from './shape-inference/context/node-context.js';
export { type InferOptions, inferShapes, type KnownTypes, writeTypes } from './shape-inference/infer-shapes.js';
export { type EditStep, editModel } from './surgery/edit-model.js';
export { type Cut, extractSubgraph } from './surgery/extract.js';
export { type Insertion, insertNode } from './surgery/insert-node.js';
export { type Merged, type MergeOptions, mergeModels } from './surgery/merge-models.js';
export { type PinRecord, type Pins, pinShapes } from './surgery/pin-shapes.js';
export { type Removal, removeNodes } from './surgery/remove-node.js';
export { type Rename, renameNodes, renameValues } from './surgery/rename.js';
export { type Swapped, swapPart } from './surgery/swap-part.js';
export { parseModelText } from './text/parse-text.js';
export { type PrintOptions, printModel } from './text/print.js';
