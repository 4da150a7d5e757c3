/**
 * Explains a changed digest in detail: the changed files of a folder, or the changed modules of the code.
 * This needs the earlier content, which the cache may have.
 */

import { parseDigest } from '../../../base/digest.js';
import type { Json } from '../../../base/json.js';
import { isJsonObject, parseJson } from '../../../base/json.js';
import type { Change } from '../../action/changes.js';
import { codeOf } from '../../action/code/pinned-code.js';
import { inputOf } from '../../action/input-of.js';
import type { Session } from '../../action/session.js';
import { EngineError } from '../../model/engine-error.js';
import type { PlannedStage } from '../../model/plan.js';
import { decodeTree, type TreeEntry } from '../../store/files/tree.js';
import type { Cause } from './cause.js';
import { compareCode } from './code-changes.js';
import { compareTrees, type TreeChanges } from './tree-changes.js';

export interface Details {
  /** @param change a change of the stage itself, not of an artifact of another stage. */
  causeOf(stage: PlannedStage, change: Change): Promise<Cause>;
}

export function createDetails(session: Session): Details {
  const known = new Map<string, Promise<Cause>>();
  return {
    causeOf(stage, change) {
      const key = change.label === 'code' ? `code ${stage.plugin.name}` : JSON.stringify([placeOf(stage, change), change]);
      const cause = known.get(key) ?? findCause(session, stage, change);
      known.set(key, cause);
      return cause;
    },
  };
}

/** A source is the same for every stage that reads it. */
function placeOf(stage: PlannedStage, { label }: Change): string {
  const ref = inputOf(stage, label);
  return ref?.kind === 'source' ? ref.path : stage.id;
}

async function findCause(session: Session, stage: PlannedStage, change: Change): Promise<Cause> {
  const { label, before, after } = change;
  if (label === 'code') return { kind: 'code', plugin: stage.plugin.name, changes: await compareCodes(session, stage, change) };
  const ref = before === undefined || after === undefined ? undefined : inputOf(stage, label);
  if (ref?.kind !== 'source') return { kind: 'change', change };
  return { kind: 'source', path: ref.path, files: await compareFolders(session, ref.path, change) };
}

async function compareFolders({ store, pinner }: Session, path: string, { before, after }: Change): Promise<TreeChanges | undefined> {
  const read = async (artifact: Json | undefined): Promise<readonly TreeEntry[] | undefined> => {
    const digest = isJsonObject(artifact) && artifact.kind === 'tree' ? parseDigest(artifact.digest) : undefined;
    const document = digest === undefined ? undefined : await store.read(digest);
    return document === undefined ? undefined : decodeTree(document.toString());
  };
  const old = await read(before);
  if (old === undefined) return undefined;
  const now = (await read(after)) ?? (await pinner.treeOf(path));
  return now === undefined ? undefined : compareTrees(old, now);
}

async function compareCodes({ store, code }: Session, { plugin }: PlannedStage, { before, after }: Change) {
  const read = async (text: Json | undefined): Promise<Json | undefined> => {
    const digest = parseDigest(text);
    const document = digest === undefined ? undefined : await store.read(digest);
    return document === undefined ? undefined : parseJson(document.toString());
  };
  const old = await read(before);
  if (old === undefined) return undefined;
  try {
    return compareCode(old, (await read(after)) ?? (await code.describe(codeOf(plugin))));
  } catch (error) {
    // Unreadable modules only omit this detail; the rest of the explanation is still given.
    if (error instanceof EngineError) return undefined;
    throw error;
  }
}
