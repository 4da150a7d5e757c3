/** The edits of a page: each is shown first, applies to the file as it was read then, and can be undone as long as the file is as the edit left it, also by a later server. */
import { randomBytes } from 'node:crypto';
import { readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type Digest, digestBytes } from '../../base/digest.js';
import type { Diagnostic } from '../../engine/model/diagnostic.js';
import { stampOf } from '../../engine/store/files/stamp.js';
import type { WrittenEdit } from '../../report/views/pipeline-data.js';
import { refuse, refuseWrite } from './edit-error.js';
import type { Edit, EditedStage } from './edit-schema.js';
import { type DoneEdit, readKeptEdits, writeKeptEdits } from './kept-edits.js';
import { type DiffLine, diffLines } from './line-diff.js';
import { type PlannedEdit, planEdit } from './plan-edit.js';

export interface EditPreview {
  readonly place: string;
  readonly diff: readonly DiffLine[];
  /** Of the file as it was read: `apply` takes it. */
  readonly digest: Digest;
}

export interface EditSession {
  /** @throws RequestError `ui-edit-place`, `ui-edit-invalid`. */
  preview(edit: Edit, place: EditedStage): Promise<EditPreview>;
  /** @throws RequestError `ui-edit-changed` if the file is not the one that was previewed; `ui-edit-not-written`; those of `preview`. */
  apply(edit: Edit, place: EditedStage, digest: string): Promise<WrittenEdit>;
  /**
   * Takes back the edit that left the file with the digest `left`, and no other.
   * @throws RequestError `ui-edit-changed` if the file is another one now, or no such edit is kept; `ui-edit-not-written`.
   */
  undo(left: string): void;
  /** What can be undone now. */
  undoable(): WrittenEdit | undefined;
}

const MOST_DONE = 50;

/**
 * @param check plans with another text of the file, and returns its diagnostics.
 * @param kept the file of the edits that can be undone. Edits of an earlier server are in it, and those of another one that runs beside this one.
 */
export function openEdits(path: string, check: (text: string) => Promise<readonly Diagnostic[]>, kept: string): EditSession {
  let known: { readonly stamp: string; readonly edits: readonly DoneEdit[] } | undefined;
  const read = (): readonly DoneEdit[] => {
    const stamp = stampOf(kept);
    if (known?.stamp !== stamp) known = { stamp, edits: readKeptEdits(kept) };
    return known.edits;
  };
  /** The edit that left the file as it is now. */
  const findLast = (): { readonly index: number; readonly edit: DoneEdit } | undefined => {
    const edits = read();
    const now = edits.length === 0 ? undefined : digestOf(path);
    const index = edits.findLastIndex(({ after }) => after === now);
    const edit = edits[index];
    return edit === undefined ? undefined : { index, edit };
  };
  const plan = async (
    edit: Edit,
    place: EditedStage,
  ): Promise<{ readonly before: string; readonly planned: PlannedEdit; readonly preview: EditPreview }> => {
    const before = readFileSync(path, 'utf8');
    const planned = planEdit(before, edit, place);
    const [problem] = (await check(planned.text)).filter(({ severity }) => severity === 'error');
    if (problem !== undefined) throw refuse('ui-edit-invalid', `the edited file would have an error: ${problem.message}`, problem.help);
    return { before, planned, preview: { place: planned.place, diff: diffLines(before, planned.text), digest: digestBytes(before) } };
  };
  return {
    preview: async (edit, place) => (await plan(edit, place)).preview,
    async apply(edit, place, digest) {
      const { before, planned, preview } = await plan(edit, place);
      if (preview.digest !== digest || digestOf(path) !== digest) throw changed();
      const left = digestBytes(planned.text);
      const done: readonly DoneEdit[] = [...read(), { before, after: left, what: planned.place }];
      written(() => {
        // If the pipeline file cannot be written then, the new one matches no file.
        writeKeptEdits(kept, done.slice(-MOST_DONE));
        replaceFile(path, planned.text);
      });
      return { place: planned.place, left };
    },
    undo(left) {
      const last = findLast();
      if (last?.edit.after !== left) throw notLast(last?.edit);
      written(() => replaceFile(path, last.edit.before));
      writeKeptEdits(kept, read().slice(0, last.index));
    },
    undoable() {
      const last = findLast()?.edit;
      return last === undefined ? undefined : { place: last.what, left: last.after };
    },
  };
}

function written(write: () => void): void {
  try {
    write();
  } catch (error) {
    throw refuseWrite(error);
  }
}

function changed(): Error {
  return refuse('ui-edit-changed', 'the pipeline file was changed since it was read', 'look at the difference again');
}

/** @param last the edit that can be taken back instead. */
function notLast(last: DoneEdit | undefined): Error {
  const message = 'the edit cannot be undone: the pipeline file was changed after it';
  return last === undefined
    ? refuse('ui-edit-changed', message, 'edit the file')
    : refuse('ui-edit-changed', `${message}, by the edit of ${last.what}`, '“Undo edit” takes the last edit back');
}

function digestOf(path: string): Digest {
  return digestBytes(readFileSync(path, 'utf8'));
}

/** A file in the place of the former one, also behind a link. A reader sees the one or the other. */
function replaceFile(path: string, text: string): void {
  const real = realpathSync(path);
  const temporary = `${real}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    writeFileSync(temporary, text, { flag: 'wx', mode: statSync(real).mode & 0o777, flush: true });
    renameSync(temporary, real);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
