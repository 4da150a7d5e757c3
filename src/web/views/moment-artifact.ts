/** Outputs of a stage as they were after a run: the cache has them until it is cleaned. */
import { getRunIndex, isRunName } from '../../engine/insight/history/run-name.js';
import type { RunRecord } from '../../engine/insight/history/run-record.js';
import { artifactPath } from '../../engine/model/artifact-path.js';
import type { Plan, StageId } from '../../engine/model/plan.js';
import { readRecord } from '../../engine/store/action-records.js';
import { RequestError } from '../http/read-body.js';
import type { ProjectState } from '../project/live-project.js';
import { type FoundArtifact, findArtifact, findInCache } from './artifact-file.js';

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
  const key = findKey(state.runs, getRunIndex(state.runs, of), stage);
  const record = key === undefined ? undefined : readIn(state.cache, key);
  const artifact = record?.results.at(-1)?.outputs[port];
  if (artifact === undefined) throw notKept(`${stage}.${port}`, of);
  return findInCache(state.cache, artifact, path, artifactPath(plan, planned, port));
}

/** The action whose result the stage had after the run. */
export function findKey(runs: readonly RunRecord[], index: number, stage: string): string | undefined {
  for (let at = index; at >= 0; at--) {
    const key = runs[at]?.stages.find(one => one.stage === stage)?.key;
    if (key !== undefined) return key;
  }
  return undefined;
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
