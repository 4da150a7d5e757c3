/** Takes back an edit that a page has written, as long as the file is as that edit left it. */
import type { WrittenEdit } from '../../../report/views/pipeline-data.js';
import { post } from '../api/client.js';
import { createStore } from '../api/store.js';

/** The last edit that this page has taken back. */
export const undoneEdit = createStore<WrittenEdit | undefined>(undefined);

/** @throws ApiError `ui-edit-changed`. */
export async function undoEdit(edit: WrittenEdit): Promise<void> {
  await post('undo', { left: edit.left });
  // Another object than before, also where the same edit was written again.
  undoneEdit.set({ ...edit });
}
