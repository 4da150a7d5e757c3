/** Outputs of a stage as they were after a run: the cache has them until it is cleaned. */
import { getRunIndex, isRunName } from '../../engine/insight/history/run-name.js';
import type { RunRecord, RunStage } from '../../engine/insight/history/run-record.js';
import { artifactPath } from '../../engine/model/artifact-path.js';
import type { Plan, PlannedStage, StageId } from '../../engine/model/plan.js';
import { readRecord } from '../../engine/store/action-records.js';
import { RequestError } from '../http/read-body.js';
import type { ProjectState } from '../project/live-project.js';
import { type FoundArtifact, findArtifact, findInCache } from './artifact-file.js';

/** The history has tenths of a millisecond, and the cache whole ones: two roundings of the same time. */
const SAME_MS = 0.56;

export interface ArtifactOrder {
  readonly stage: string;
  readonly port: string;
  /** Of a file in an output folder. */
  readonly path: string | undefined;
  /** "now", or a run: "r41". */
  readonly of: string;
}

/** @throws RequestError `ui-not-found`; EngineError `no-such-run`. */
export async function findArtifactOf(
  plan: Plan,
  state: Pick<ProjectState, 'results' | 'cache' | 'runs'>,
  { stage, port, path, of }: ArtifactOrder,
): Promise<FoundArtifact> {
  if (of === 'now') return findArtifact(plan, state, stage, port, path);
  const planned = plan.stages.get(stage as StageId);
  if (planned === undefined || !Object.hasOwn(planned.outputPorts, port)) throw notKept(`${stage}.${port}`, of);
  if (!isRunName(of)) throw new RequestError(404, 'ui-not-found', `"${of.slice(0, 80)}" keeps figures, and no artifacts`, 'choose runs');
  const known = findRunStage(state.runs, getRunIndex(state.runs, of), stage);
  const record = known?.key === undefined ? undefined : readIn(state.cache, known.key);
  const artifact = (record === undefined || known === undefined ? undefined : resultOf(record.results, known, planned.determinism))
    ?.outputs[port];
  if (artifact === undefined) throw notKept(`${stage}.${port}`, of);
  return findInCache(state.cache, artifact, path, artifactPath(plan, planned, port));
}

/** The action whose result the stage had after the run. */
export function findKey(runs: readonly RunRecord[], index: number, stage: string): string | undefined {
  return findRunStage(runs, index, stage)?.key;
}

/** What the last run until then that knows the stage's result says of it. */
function findRunStage(runs: readonly RunRecord[], index: number, stage: string): RunStage | undefined {
  for (let at = index; at >= 0; at--) {
    const found = runs[at]?.stages.find(one => one.stage === stage);
    if (found?.key !== undefined) return found;
  }
  return undefined;
}

/**
 * The result that the run had, where an action has had several: measured ones, and conflicting ones. A run notes how long its result took to make, which
 * tells them apart. The only result that the cache still has of an action that measures may be another run's too; that of an exact one has the same bytes.
 * @throws RequestError `ui-not-found` where the duration does not tell.
 */
export function resultOf<Result extends { readonly durationMs: number }>(
  results: readonly Result[],
  { stage, durationMs }: RunStage,
  determinism: PlannedStage['determinism'],
): Result | undefined {
  if (results.length === 0 || (results.length === 1 && determinism === 'exact')) return results[0];
  const own = results.filter(one => durationMs !== undefined && Math.abs(one.durationMs - durationMs) <= SAME_MS);
  if (own.length === 1) return own[0];
  throw new RequestError(
    404,
    'ui-not-found',
    results.length === 1
      ? `the cache no longer has the result of ${stage} that the run had, but that of another run`
      : `the cache has ${results.length} results of ${stage} for one key, and the run does not say which one it had`,
    'build the stage with --force, and compare the new run',
  );
}

function readIn(cache: ProjectState['cache'], key: string) {
  for (const one of [cache, cache.shared]) {
    const record = one === undefined ? undefined : readRecord(one, key);
    if (record !== undefined && record !== 'damaged') return record;
  }
  return undefined;
}

function notKept(what: string, of: string): RequestError {
  return new RequestError(
    404,
    'ui-not-found',
    `the cache does not have ${what} of ${of}`,
    'compare runs whose results are still in the cache',
  );
}
