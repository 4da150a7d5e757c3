/**
 * Makes the no-op record (no-op-record.ts): proves once more, from the disk alone, that nothing is out of date, and records what the proof read.
 */
import { digestBytes } from '../../base/digest.js';
import { identifyHost } from '../action/host.js';
import { encodeVariable } from '../action/manifest.js';
import { newObservations, type Observations } from '../action/pin-stage.js';
import { findSettled, openSession, placeOf } from '../action/session.js';
import type { AcceptedStage } from '../model/accepted-stage.js';
import { fromProject } from '../model/artifact-path.js';
import { checkGate } from '../model/gate-result.js';
import type { Plan, PlannedStage, StageId } from '../model/plan.js';
import type { EnginePorts } from '../model/ports.js';
import type { CacheFolder } from '../store/cache-folder.js';
import { joinStamps, NO_STAMPS, type RecordedStamps, stampTree } from '../store/files/recorded-stamps.js';
import { stampOf, stampOfLink } from '../store/files/stamp.js';
import { writeWhole } from '../store/files/write-file.js';
import { tryLock } from '../store/lock/action-locks.js';
import { findTouched } from '../store/published.js';
import { encodeNoOpRecord, type NoOpRecord, noOpRecordPath, readNoOpRecord, type SettledReport } from './no-op-record.js';

/** What the caller contributes to a no-op record. */
export interface NoOpRequest {
  /** Everything that the answer depends on outside the engine: arguments and versions. */
  readonly request: string;
  /** Stamps of everything that the plan was made from: files, and the modules of third-party plugins. Taken before they were read. */
  readonly stamps: RecordedStamps;
}

/** A build whose stages were all checked. */
export interface CheckedBuild {
  readonly plan: Plan;
  readonly ports: EnginePorts;
  readonly cache: CacheFolder;
  readonly selected: readonly PlannedStage[];
  readonly order: NoOpRequest;
}

/**
 * Writes a no-op record if nothing is out of date and nothing changed in the meantime; otherwise writes nothing. Call only while holding
 * the lock.
 */
export async function writeNoOpRecord({ plan, ports, cache, selected, order }: CheckedBuild): Promise<void> {
  const record = makeNoOpRecord(plan, ports, cache, selected, order);
  if (record === undefined) return;
  // Without the record the next build checks every stage: only time is lost.
  await writeWhole(noOpRecordPath(plan.projectFolder, plan.pipeline), encodeNoOpRecord(record), 'no-flush').catch(() => undefined);
}

/**
 * Writes the no-op record if it is missing, or if the record of the same request no longer holds although nothing is out of date, for
 * example after an edit of a comment. Otherwise every later build would check all stages. Writes nothing while another build holds the lock.
 */
export async function renewNoOpRecord(checked: CheckedBuild): Promise<void> {
  const { plan, ports, cache, order } = checked;
  const found = readNoOpRecord(noOpRecordPath(plan.projectFolder, plan.pipeline));
  if (found !== undefined && found.request !== order.request) return;
  const lock = await tryLock(cache.lock, ports.signal).catch(() => undefined);
  try {
    if (lock !== undefined) await writeNoOpRecord(checked);
  } finally {
    await lock?.release();
  }
}

/** Variables that change which modules Node loads. */
const RESOLUTION_VARIABLES = ['NODE_OPTIONS', 'NODE_PATH'];

export function makeNoOpRecord(
  plan: Plan,
  ports: EnginePorts,
  cache: CacheFolder,
  selected: readonly PlannedStage[],
  { request, stamps }: NoOpRequest,
): NoOpRecord | undefined {
  const runsModels = selected.some(stage => stage.plugin.plugin.runsModels === 'always');
  const platform = runsModels ? ports.platformClass.guard() : null;
  const kept: RecordedStamps = {
    ...NO_STAMPS,
    followed: [cache.state(plan.pipeline), ...(runsModels ? [cache.platform] : [])].flatMap(path => [
      fromProject(plan, path),
      stampOf(path),
    ]),
  };
  // A no-op record holds digests of the values of variables. Nothing is written about secrets.
  if (selected.some(stage => stage.secrets.length > 0)) return undefined;
  const session = openSession(plan, ports, cache, 'read');
  const observations = newObservations();
  const settled = findSettled(session, selected, new Set(), observations);
  if (settled.size < selected.length || session.loaded.damagedLines > 0) return undefined;
  const report = reportOf(plan, selected, settled);
  const sources = stampSources(plan, observations);
  const outputs = stampOutputs(plan, selected, settled);
  if (report === undefined || sources === undefined || outputs === undefined) return undefined;
  const variables = new Set([...selected.flatMap(stage => stage.env), ...RESOLUTION_VARIABLES]);
  return {
    request,
    programs: [...observations.tools].flatMap(([name, tool]) => (tool === undefined ? [] : [[name, tool.path] as const])),
    environment: [...variables].map(name => [name, encodeVariable(ports.environment[name])]),
    platform,
    host: selected.some(stage => stage.determinism === 'measured') ? identifyHost() : null,
    stamps: joinStamps([stamps, kept, sources, outputs]),
    report,
  };
}

/** Undefined if a gate is missed, because every build has to report that. */
function reportOf(plan: Plan, selected: readonly PlannedStage[], settled: ReadonlyMap<StageId, AcceptedStage>): SettledReport | undefined {
  const gates = selected.flatMap(stage => stage.gate.map(gate => checkGate(stage.id, gate, settled.get(stage.id)?.metrics)));
  if (gates.some(({ verdict }) => verdict === 'missed')) return undefined;
  return { pipeline: plan.pipeline, stages: selected.length, gates };
}

/** Stamps of sources, programs and code. Undefined if one of them changed in the meantime. */
function stampSources(plan: Plan, { sources, tools, code }: Observations): RecordedStamps | undefined {
  const followed: string[] = [];
  const trees: RecordedStamps['trees'][number][] = [];
  const programs = [...tools.values()].map(tool => [tool?.path ?? '', tool?.source] as const);
  for (const [path, source] of [...sources, ...programs]) {
    if (source === undefined) return undefined;
    if (source.artifact.kind === 'file') followed.push(path, source.signature);
    else {
      const tree = stampTree(path, 'follow', plan.projectFolder);
      if (digestBytes(tree.stamps) !== source.signature) return undefined;
      trees.push(tree);
    }
  }
  // The table of built-in code is one of the files that the plan was made from.
  const modules = [...code.values()].flatMap(one => (one?.modules === undefined ? [] : [one.stamps]));
  return joinStamps([{ ...NO_STAMPS, followed, trees }, ...modules]);
}

/** Stamps of the files under artifacts/. Undefined if one of them changed in the meantime. */
function stampOutputs(
  plan: Plan,
  selected: readonly PlannedStage[],
  settled: ReadonlyMap<StageId, AcceptedStage>,
): RecordedStamps | undefined {
  const itself: string[] = [];
  const trees: RecordedStamps['trees'][number][] = [];
  for (const stage of selected) {
    const accepted = settled.get(stage.id);
    const { folder, names } = placeOf(plan, stage);
    const stamp = stampOfLink(folder);
    if (accepted === undefined || (stamp !== accepted.folderStamp && findTouched(folder, accepted, names) !== undefined)) return undefined;
    const at = fromProject(plan, folder);
    itself.push(at, stamp);
    for (const [port, { kind, signature }] of Object.entries(accepted.outputs)) {
      const path = `${at}/${names[port] ?? port}`;
      if (kind === 'file') itself.push(path, signature);
      else {
        const tree = stampTree(path, 'keep', plan.projectFolder);
        if (digestBytes(tree.stamps) !== signature) return undefined;
        trees.push(tree);
      }
    }
  }
  return { ...NO_STAMPS, itself, trees };
}
