/** Takes back the last edit that the page has written, as long as the file is as that edit left it. */
import { post } from '../api/client.js';
import { createStore } from '../api/store.js';

/** Grows with every edit that this page takes back. */
export const undoneEdit = createStore(0);

/** @throws ApiError `ui-edit-changed`. */
export async function undoLast(): Promise<void> {
  await post('undo', {});
  undoneEdit.set(undoneEdit.get() + 1);
}
