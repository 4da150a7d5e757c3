/** The snapshot of a pipeline at a commit: params from its files; metrics from its lock file, or from kept results with the same inputs. */

import type { Digest } from '../../../base/digest.js';
import { encodeCanonicalJson } from '../../../base/json/canonical-json.js';
import type { JsonObject } from '../../../base/json.js';
import { isJsonObject, parseJson } from '../../../base/json.js';
import type { Lock, LockedStage } from '../../lockfile/lock.js';
import { checkGate } from '../../model/gate-result.js';
import { joinMetrics } from '../../model/metrics.js';
import type { PlannedStage } from '../../model/plan.js';
import { type MatchFacts, matchResults } from './match-results.js';
import { encodeGate, headlinesOf } from './record-run.js';
import type { Metrics, Snapshot, StageSnapshot } from './snapshot.js';

export interface RevisionFacts extends MatchFacts {
  readonly commit: string;
  /** Undefined if the commit has no lock file, or it cannot be read. */
  readonly lock: Lock | undefined;
  /** The verified bytes of a blob in the cache. */
  readonly readBlob: (digest: Digest) => Uint8Array | undefined;
  /** The platform class of this machine, if known. */
  readonly platformClass: string | undefined;
}

export function snapshotAtRevision(facts: RevisionFacts): Snapshot {
  const { commit, plan, lock } = facts;
  const name = shorten(commit);
  const matched = matchResults(facts);
  let fromMatches = 0;
  const stages = new Map<string, StageSnapshot>();
  for (const stage of plan.stages.values()) {
    const locked = findLocked(stage, lock?.stages.get(stage.id), facts);
    const document = locked ?? matched.results.get(stage.id)?.metrics;
    if (locked === undefined && document !== undefined) fromMatches += 1;
    const metrics: Metrics = !hasMetrics(stage)
      ? { kind: 'none' }
      : document === undefined
        ? { kind: 'unknown' }
        : { kind: 'known', values: headlinesOf(document) };
    const gates = document === undefined ? [] : stage.gate.map(gate => encodeGate(checkGate(stage.id, gate, document)));
    stages.set(stage.id, { params: stage.params, metrics, gates });
  }
  const assumed = [...matched.assumed].sort().join(', ');
  const note = `figures of ${name} that no lock names are of kept results; ${assumed}: not in that commit as a file, taken to have been as they were then`;
  return { name, params: plan.params, stages, others: 'absent', notes: fromMatches > 0 && assumed !== '' ? [note] : [] };
}

export function shorten(commit: string): string {
  return commit.slice(0, 7);
}

function hasMetrics({ outputPorts }: PlannedStage): boolean {
  return Object.values(outputPorts).some(({ kind }) => kind === 'metrics');
}

function findLocked(
  stage: PlannedStage,
  locked: LockedStage | undefined,
  { readBlob, platformClass }: RevisionFacts,
): JsonObject | undefined {
  if (locked === undefined || !isSame(locked.facts.params, stage.params)) return undefined;
  const outputs = contentsOf(locked, platformClass);
  const found: [string, JsonObject][] = [];
  for (const [port, { kind }] of Object.entries(stage.outputPorts)) {
    const content = kind === 'metrics' ? outputs[port] : undefined;
    if (content === undefined) continue;
    const bytes = readBlob(content.digest);
    const document = bytes === undefined ? undefined : parseJson(Buffer.from(bytes).toString());
    if (document === undefined || !isJsonObject(document)) return undefined;
    found.push([port, document]);
  }
  return joinMetrics(found);
}

/** The outputs for this machine's platform class if they are locked, otherwise those of the first class. */
function contentsOf({ results }: LockedStage, platformClass: string | undefined): Readonly<Record<string, { readonly digest: Digest }>> {
  if (results.kind === 'same') return results.outputs;
  if (results.kind === 'measured') return {};
  const own = platformClass === undefined ? undefined : results.classes.get(platformClass);
  return (own ?? [...results.classes.values()][0])?.outputs ?? {};
}

function isSame(a: JsonObject, b: JsonObject): boolean {
  return encodeCanonicalJson(a) === encodeCanonicalJson(b);
}
