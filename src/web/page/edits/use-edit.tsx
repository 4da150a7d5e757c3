/** An edit of the pipeline file: shown as a difference first, then applied to the file as it was read, or discarded. */
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { JsonObject } from '../../../base/json.js';
import type { WrittenEdit } from '../../../report/views/pipeline-data.js';
import type { EditPreview } from '../../edit/edit-session.js';
import { type ApiError, post } from '../api/client.js';
import { useStore } from '../api/store.js';
import { asApiError } from '../api/use-data.js';
import { Failed } from '../parts/notice.js';
import { DiffView } from './diff-view.js';
import { undoEdit, undoneEdit } from './undo.js';

export interface EditFlow {
  /** Shows what the edit would change. */
  preview(edit: JsonObject): void;
  /** The difference with its buttons, what was written, or why not. */
  readonly shown: VNode;
}

/** @param noteOf a sentence beside the place that is changed. */
export function useEdit(noteOf: (place: string) => string): EditFlow {
  const [shown, setShown] = useState<{ readonly edit: JsonObject; readonly preview: EditPreview }>();
  const [error, setError] = useState<ApiError>();
  const [applied, setApplied] = useState<WrittenEdit>();
  const [undone, setUndone] = useState<WrittenEdit>();
  const last = useStore(undoneEdit);
  // Also where it is taken back in the bar above.
  useEffect(() => {
    if (last === undefined || last.left !== applied?.left) return;
    setUndone(last);
    setApplied(undefined);
    setError(undefined);
  }, [last]);
  const attempt = (work: () => Promise<void>): void => {
    setError(undefined);
    setApplied(undefined);
    setUndone(undefined);
    work().catch((problem: unknown) => setError(asApiError(problem)));
  };
  const read = async (edit: JsonObject): Promise<void> => {
    setShown(undefined);
    setShown({ edit, preview: await post<EditPreview>('preview-edit', edit) });
  };
  const apply = (then: 'run' | 'stop'): void =>
    attempt(async () => {
      if (shown === undefined) return;
      const { edit, preview } = shown;
      const written = await post<WrittenEdit>('edit', { ...edit, digest: preview.digest }).catch(async (problem: unknown) => {
        if (asApiError(problem).code === 'ui-edit-changed') await read(edit);
        throw problem;
      });
      setShown(undefined);
      setApplied(written);
      if (then === 'run') await post('build', { targets: [] });
    });
  const undo = (edit: WrittenEdit): void => void undoEdit(edit).catch((problem: unknown) => setError(asApiError(problem)));
  return {
    preview: edit => attempt(() => read(edit)),
    shown: (
      <>
        {error !== undefined && <Failed error={error} />}
        {applied !== undefined && (
          <p class="good" role="status">
            ✓ Written: {applied.place}.{' '}
            <button type="button" onClick={() => undo(applied)}>
              Undo
            </button>
          </p>
        )}
        {undone !== undefined && (
          <p class="soft" role="status">
            Taken back: {undone.place}.
          </p>
        )}
        {shown !== undefined && (
          <div class="card">
            <p>
              Changes <b>{shown.preview.place}</b>. {noteOf(shown.preview.place)}
            </p>
            <DiffView lines={shown.preview.diff} />
            <span class="buttons">
              <button type="button" onClick={() => apply('stop')}>
                Apply
              </button>
              <button type="button" onClick={() => apply('run')}>
                Apply and run all
              </button>
              <button type="button" class="quiet" onClick={() => setShown(undefined)}>
                Discard
              </button>
            </span>
          </div>
        )}
      </>
    ),
  };
}
