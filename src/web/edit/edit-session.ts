/** The edits of one page: each is shown first, applies to the file as it was read then, and can be undone as long as the file is as the edit left it. */
import { randomBytes } from 'node:crypto';
import { readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type Digest, digestBytes } from '../../base/digest.js';
import type { Diagnostic } from '../../engine/model/diagnostic.js';
import { refuse } from './edit-error.js';
import type { Edit, EditedStage } from './edit-schema.js';
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
  /** @throws RequestError `ui-edit-changed` if the file is not the one that was previewed; those of `preview`. */
  apply(edit: Edit, place: EditedStage, digest: string): Promise<EditPreview>;
  /** Takes back the last edit. @throws RequestError `ui-edit-changed` if there is none, or the file was changed since. */
  undo(): void;
  /** What `undo` would take back. */
  undoable(): string | undefined;
}

interface Done {
  readonly before: string;
  readonly after: Digest;
  readonly what: string;
}

const MOST_DONE = 50;

/** @param check plans with another text of the file, and returns its diagnostics. */
export function openEdits(path: string, check: (text: string) => Promise<readonly Diagnostic[]>): EditSession {
  const done: Done[] = [];
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
      replaceFile(path, planned.text);
      done.push({ before, after: digestBytes(planned.text), what: planned.place });
      if (done.length > MOST_DONE) done.shift();
      return preview;
    },
    undo() {
      const last = done.at(-1);
      if (last === undefined || digestOf(path) !== last.after) throw changed();
      replaceFile(path, last.before);
      done.pop();
    },
    undoable() {
      const last = done.at(-1);
      return last !== undefined && digestOf(path) === last.after ? last.what : undefined;
    },
  };
}

function changed(): Error {
  return refuse('ui-edit-changed', 'the pipeline file was changed since it was read', 'look at the difference again');
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
