/** How is a model edited step by step? Each step says what it did; then shapes are inferred anew, and the graph must be sound. */
import { assertNever } from '../../base/assert-never.js';
import { checkModel, findNewProblem, type ModelProblem } from '../check/check-model.js';
import type { Model } from '../ir/model.js';
import { OnnxError } from '../ir/onnx-error.js';
import { sortTopologically } from '../ir/sort.js';
import { applyEdit, type Edit } from '../rewrite/edits.js';
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
 * Edits `model` in place, step after step: it may have problems before, and may not have others after. Where it throws, the model may be half edited.
 * @returns what each step did, a line each. @throws OnnxError of the steps; what shape inference throws; `edit-breaks-graph`.
 */
export function editModel(model: Model, steps: readonly EditStep[]): readonly string[] {
  const before = checkModel(model);
  const done = steps.flatMap(step => applyStep(model, step));
  sortTopologically(model.graph);
  const problem = findNewProblem(before, checkModel(model));
  if (problem !== undefined)
    throw new OnnxError('edit-breaks-graph', `the edits leave a graph that is not sound: ${problem.message}`, helpOf(problem));
  writeTypes(model, inferShapes(model, { stated: 'ignore' }));
  return done;
}

const helpOf = ({ help }: ModelProblem): { help?: string } => (help === undefined ? {} : { help });

function applyStep(model: Model, step: EditStep): readonly string[] {
  switch (step.kind) {
    case 'edit':
      return applyEdit(model, step.edit).map(({ at, what, before, after }) => `${at}: ${what} was ${before}, is ${after}`);
    case 'rename-values':
      return renameValues(model, step.renames).map(({ from, to }) => `value ${from} is ${to}`);
    case 'rename-nodes':
      return renameNodes(model, step.renames).map(({ from, to }) => `node ${from} is ${to}`);
    case 'insert':
      return [`${describeNode(insertNode(model, step.insertion), model.graph)} inserted after ${step.insertion.on}`];
    case 'remove':
      return removeNodes(model, step.removal).map(label => `${label} removed`);
    case 'add-output':
      addOutput(model, step.name);
      return [`${step.name} is an output`];
    case 'drop-output':
      return [`${step.name} is no output`, ...dropOutput(model, step.name).map(label => `${label} removed`)];
    case 'drop-input':
      dropInput(model, step.name);
      return [`${step.name} is no input`];
    case 'swap': {
      const { renamed, removed } = swapPart(model, step.cut, step.replacement);
      return [...renamed.map(({ from, to }) => `${from} of the replacement is ${to}`), ...removed.map(label => `${label} removed`)];
    }
    default:
      return assertNever(step);
  }
}
