/** The button that takes back the last edit, with the place that it changed. */
import { useState } from 'preact/hooks';
import type { PipelineView } from '../../../report/views/pipeline-data.js';
import { asApiError } from '../api/use-data.js';
import { Problem } from '../parts/notice.js';
import { undoEdit } from './undo.js';

export function UndoButton({ pipeline: { undoable, project } }: { readonly pipeline: PipelineView }) {
  const [problem, setProblem] = useState<string>();
  if (undoable === undefined || project.access !== 'full') return null;
  const undo = (): void => {
    setProblem(undefined);
    undoEdit(undoable).catch((error: unknown) => setProblem(asApiError(error).message));
  };
  return (
    <span class="buttons">
      <button type="button" onClick={undo} title={`Takes back the edit of ${undoable.place}`}>
        Undo edit
      </button>
      <Problem text={problem} />
    </span>
  );
}
