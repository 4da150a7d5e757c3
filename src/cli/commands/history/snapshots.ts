/** Finds the snapshots that `diff` compares: a run, a saved baseline, a Git revision, or the current state. */
import { resolve } from 'node:path';
import type { JsonObject } from '../../../base/json.js';
import { isJsonObject } from '../../../base/json.js';
import { findClosest } from '../../../base/text/did-you-mean.js';
import { baselinePath, isBaselineName, readBaseline } from '../../../engine/insight/history/baseline.js';
import { digestAt, findCommit, showFile } from '../../../engine/insight/history/git-show.js';
import { getRunIndex, isRunName } from '../../../engine/insight/history/run-name.js';
import type { RunRecord } from '../../../engine/insight/history/run-record.js';
import { type Snapshot, snapshotAfter, snapshotNow } from '../../../engine/insight/history/snapshot.js';
import { shorten, snapshotAtRevision } from '../../../engine/insight/history/snapshot-at-revision.js';
import type { Lock } from '../../../engine/lockfile/lock.js';
import { lockFileOf } from '../../../engine/lockfile/lock-path.js';
import { LockRefused } from '../../../engine/lockfile/lock-refused.js';
import { parseLock } from '../../../engine/lockfile/parse-lock.js';
import { EngineError } from '../../../engine/model/engine-error.js';
import type { Plan } from '../../../engine/model/plan.js';
import { type ActionRecord, readRecord } from '../../../engine/store/action-records.js';
import { readBlob } from '../../../engine/store/blob-store.js';
import type { CacheFolder } from '../../../engine/store/cache-folder.js';
import { createPlatformClass } from '../../../engine/store/platform-class-cache.js';
import { loadState } from '../../../engine/store/state-log.js';
import { makeEnginePorts, neverAborted } from '../../pipeline/engine-ports.js';
import { loadFrom, type PipelineOptions } from '../../pipeline/open-plan.js';

export interface SnapshotContext {
  readonly options: PipelineOptions;
  readonly plan: Plan;
  readonly cache: CacheFolder;
  readonly runs: readonly RunRecord[];
}

/** The snapshot of the current results. */
export function currentSnapshot({ plan, cache, runs }: SnapshotContext): Snapshot {
  return snapshotNow(plan, loadState(cache.state(plan.pipeline)).state.stages, runs.findLast(hasNews), paramsIn(cache));
}

/** The snapshot before the newest run that changed a result. @throws EngineError `no-such-run`. */
export function previousSnapshot(context: SnapshotContext): Snapshot {
  const { runs } = context;
  const newest = runs.findLastIndex(hasNews);
  if (newest < 1) {
    const help = 'build once more, or name a baseline or a Git revision';
    throw new EngineError('no-such-run', 'the history has no two runs to compare', { help });
  }
  return runSnapshot(context, newest - 1);
}

/** Whether the run gave any stage a new result. */
function hasNews({ stages }: RunRecord): boolean {
  return stages.some(({ outcome }) => outcome === 'executed' || outcome === 'restored');
}

/** The snapshot that a name of a run, a baseline or a revision means; undefined if it is none of them. @throws EngineError. */
export async function findSnapshot(name: string, context: SnapshotContext): Promise<Snapshot | undefined> {
  if (name === 'now') return currentSnapshot(context);
  if (isRunName(name)) return runSnapshot(context, getRunIndex(context.runs, name));
  return findBaseline(name, context) ?? (context.plan.targets.has(name) ? undefined : revisionSnapshot(name, context));
}

function findBaseline(name: string, { plan }: SnapshotContext): Snapshot | undefined {
  return isBaselineName(name) ? readBaseline(baselinePath(plan, name), name) : undefined;
}

function runSnapshot({ runs, plan, cache }: SnapshotContext, index: number): Snapshot {
  return snapshotAfter(runs, index, new Set(plan.stages.keys()), paramsIn(cache));
}

async function revisionSnapshot(name: string, context: SnapshotContext): Promise<Snapshot | undefined> {
  const { plan, cache, runs, options } = context;
  const commit = findCommit(plan.projectFolder, name);
  if (commit === undefined) return undefined;
  const loaded = await loadFrom({ ...options, param: [] }, path => textAt(plan.projectFolder, commit, path));
  if (loaded.plan === undefined) {
    const [first] = loaded.diagnostics.filter(({ severity }) => severity === 'error');
    throw new EngineError('revision-unreadable', `${options.file} cannot be planned as of ${shorten(commit)}: ${first?.message ?? ''}`, {
      help: 'compare with a run (last~1) or a baseline',
    });
  }
  const { lock, notes } = lockAt(commit, context);
  const snapshot = snapshotAtRevision({
    commit,
    plan: loaded.plan,
    lock,
    runs,
    findRecord: recordsIn(cache),
    findSource: path => digestAt(plan.projectFolder, commit, resolve(plan.projectFolder, path)),
    readBlob: digest => readBlob(cache, digest),
    platformClass: createPlatformClass(cache, makeEnginePorts(() => undefined, neverAborted).platformClass, 'read-only').find(),
  });
  return { ...snapshot, notes: [...notes, ...snapshot.notes] };
}

/** The text of a file at a commit. A missing file gives the same error code as the file system. */
function textAt(projectFolder: string, commit: string, path: string): string {
  const content = showFile(projectFolder, commit, path);
  if (content !== undefined) return content.toString();
  throw Object.assign(new Error('file not found'), { code: 'ENOENT' });
}

function lockAt(
  commit: string,
  { plan, options }: SnapshotContext,
): { readonly lock: Lock | undefined; readonly notes: readonly string[] } {
  const { path, name } = lockFileOf(options.file, process.cwd());
  const content = showFile(plan.projectFolder, commit, resolve(path));
  if (content === undefined) return { lock: undefined, notes: [] };
  try {
    return { lock: parseLock(content.toString(), name), notes: [] };
  } catch (error) {
    if (!(error instanceof LockRefused)) throw error;
    return { lock: undefined, notes: [`${name} of ${shorten(commit)} cannot be read and is ignored`] };
  }
}

function recordsIn(cache: CacheFolder): (key: string) => ActionRecord | undefined {
  return key => {
    const record = readRecord(cache, key);
    return record === 'damaged' ? undefined : record;
  };
}

function paramsIn(cache: CacheFolder): (key: string) => JsonObject | undefined {
  const find = recordsIn(cache);
  return key => {
    const params = find(key)?.manifest.params;
    return params !== undefined && isJsonObject(params) ? params : undefined;
  };
}

/** The error for a name that is not a run, a baseline, a stage or a revision. */
export function unknownRevision(name: string, { plan, runs }: SnapshotContext): EngineError {
  const closest = findClosest(name, [...plan.targets.keys(), ...runs.map(({ run }) => run)]);
  return new EngineError('unknown-revision', `"${name}" is not a run, baseline, stage or Git revision`, {
    help: closest === undefined ? 'name a run, for example r41, last or last~2; tanren history lists them' : `did you mean "${closest}"?`,
  });
}
