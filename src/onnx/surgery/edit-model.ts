/** Step-by-step editing of a model: each step reports its changes; afterwards the graph is checked and shapes are inferred again. */
import { assertNever } from '../../base/assert-never.js';
import { checkModel, findNewProblem, type ModelProblem } from '../check/check-model.js';
import type { Model } from '../ir/model.js';
import { OnnxError } from '../ir/onnx-error.js';
import { sortTopologically } from '../ir/sort.js';
import type { Edit } from '../rewrite/edit-schema.js';
import { applyEdit } from '../rewrite/edits.js';
import { describeNode } from '../shape-inference/context/node-context.js';
import { inferShapes, writeTypes } from '../shape-inference/infer-shapes.js';
import { addOutput, dropInput, dropOutput } from './ends.js';
import type { Cut } from './extract.js';
import { type Insertion, insertNode } from './insert-node.js';
import { type Removal, removeNodes } from './remove-node.js';
import { type Rename, renameNodes, renameValues } from './rename.js';
import { swapPart } from './swap-part.js';

export type EditStep =
  /** Sets or deletes an attribute, or sets a constant. */
  | { readonly kind: 'edit'; readonly edit: Edit }
  | { readonly kind: 'rename-values' | 'rename-nodes'; readonly renames: readonly Rename[] }
  | { readonly kind: 'insert'; readonly insertion: Insertion }
  | { readonly kind: 'remove'; readonly removal: Removal }
  | { readonly kind: 'add-output' | 'drop-output' | 'drop-input'; readonly name: string }
  | { readonly kind: 'swap'; readonly cut: Cut; readonly replacement: Model };

/**
 * Edits `model` in place, step after step. The model may have problems before, but the edits must not add new ones. If it throws, the model may be partly edited.
 * @returns one line per change. @throws OnnxError of the steps; what shape inference throws; `edit-breaks-graph`.
 */
export function editModel(model: Model, steps: readonly EditStep[]): readonly string[] {
  const before = checkModel(model);
  const done = steps.flatMap(step => applyStep(model, step));
  sortTopologically(model.graph);
  const problem = findNewProblem(before, checkModel(model));
  if (problem !== undefined)
    throw new OnnxError('edit-breaks-graph', `the edits leave an invalid graph: ${problem.message}`, helpOf(problem));
  writeTypes(model, inferShapes(model, { stated: 'ignore' }));
  return done;
}

const helpOf = ({ help }: ModelProblem): { help?: string } => (help === undefined ? {} : { help });

function applyStep(model: Model, step: EditStep): readonly string[] {
  switch (step.kind) {
    case 'edit':
      return applyEdit(model, step.edit).map(({ at, what, before, after }) => `${at}: ${what} changed from ${before} to ${after}`);
    case 'rename-values':
      return renameValues(model, step.renames).map(({ from, to }) => `value ${from} renamed to ${to}`);
    case 'rename-nodes':
      return renameNodes(model, step.renames).map(({ from, to }) => `node ${from} renamed to ${to}`);
    case 'insert':
      return [`${describeNode(insertNode(model, step.insertion), model.graph)} inserted after ${step.insertion.on}`];
    case 'remove':
      return removeNodes(model, step.removal).map(label => `${label} removed`);
    case 'add-output':
      addOutput(model, step.name);
      return [`${step.name} added to the outputs`];
    case 'drop-output':
      return [`${step.name} removed from the outputs`, ...dropOutput(model, step.name).map(label => `${label} removed`)];
    case 'drop-input':
      dropInput(model, step.name);
      return [`${step.name} removed from the inputs`];
    case 'swap': {
      const { renamed, removed } = swapPart(model, step.cut, step.replacement);
      return [...renamed.map(({ from, to }) => `${from} of the replacement renamed to ${to}`), ...removed.map(label => `${label} removed`)];
    }
    default:
      return assertNever(step);
  }
}
