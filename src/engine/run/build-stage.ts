/** How is one stage brought up to date? Kept where it stands, restored from the cache, or run. */
import { setTimeout as wait } from 'node:timers/promises';
import type { ActionResult } from '../cache/action-records.js';
import type { Artifacts } from '../cache/artifact.js';
import { differingPorts } from '../cache/artifact.js';
import type { AcceptedStage, Published } from '../cache/state-log.js';
import { writeWhole } from '../cache/write-file.js';
import { EngineError } from '../engine-error.js';
import type { WarningCode } from '../events.js';
import { toFailure } from '../failure.js';
import { contentOf, findTouched, resign } from '../output/publish.js';
import type { PlannedStage, StageId } from '../plan/plan.js';
import { accept, keepResult, publishStage } from './keep-result.js';
import { measure } from './measure.js';
import type { PartService } from './part-service.js';
import { type PinnedInput, type PinnedStage, pinDevice } from './pin-stage.js';
import type { Reaper } from './reaper.js';
import { removeRunFolder } from './run-folder.js';
import { runOnce } from './run-once.js';
import type { Session } from './session.js';
import { compareWithLast, placeOf } from './session.js';
import type { StageEnd } from './stage-end.js';
import { cancelled } from './stage-end.js';

/** What there is to do for a stage: nothing any more, or a run. */
export type Approach =
  | { readonly kind: 'ended'; readonly end: StageEnd }
  | { readonly kind: 'run'; readonly pinned: PinnedStage; readonly reasons: readonly string[] };

export interface StageNeeds {
  readonly session: Session;
  readonly stage: PlannedStage;
  readonly forced: boolean;
  readonly parts: PartService;
  readonly reaper: Reaper;
  /** How the stages that it depends on, directly or not, have ended. */
  readonly endOf: (stage: StageId) => StageEnd | undefined;
}

/** Looks for a result that makes a run unnecessary: in place, or in the cache. @throws EngineError where an input cannot be pinned. */
export async function approach(needs: StageNeeds): Promise<Approach> {
  const { session, stage } = needs;
  const pinned = await pinNow(needs);
  if (needs.forced) return { kind: 'run', pinned, reasons: ['forced'] };
  const inPlace = await keepInPlace(needs, pinned);
  if (inPlace !== undefined) return { kind: 'ended', end: inPlace };
  const restored = await restoreFromRecord(needs, pinned);
  if (restored !== undefined) return { kind: 'ended', end: restored };
  return { kind: 'run', pinned, reasons: compareWithLast(session, stage, pinned.manifest).reasons };
}

function pinNow({ session, stage, endOf }: StageNeeds): Promise<PinnedStage> {
  return measure(session.ports, stage.id, 'hash', () => session.pinner.pin(stage, id => endOf(id)?.accepted));
}

async function keepInPlace(needs: StageNeeds, pinned: PinnedStage): Promise<StageEnd | undefined> {
  const { session, stage } = needs;
  const accepted = session.state.stages.get(stage.id);
  if (accepted?.key !== pinned.key) return undefined;
  const { folder, names } = placeOf(session.plan, stage);
  const touched = findTouched(folder, accepted, names);
  if (touched === undefined) return { outcome: { kind: 'up-to-date' }, accepted };
  const signed = await resign(folder, accepted, names);
  if (signed !== undefined)
    return { outcome: { kind: 'up-to-date' }, accepted: accept(session, stage, pinned, { ...accepted, ...signed }) };
  if (!touched.endsWith('missing')) warn(needs, 'artifact-edited', `${touched} in ${folder} since it was published; it is replaced`);
  return restore(needs, pinned, {
    outputs: plainArtifacts(accepted.outputs),
    metrics: accepted.metrics,
    log: undefined,
    durationMs: accepted.durationMs,
  });
}

async function restoreFromRecord(needs: StageNeeds, pinned: PinnedStage): Promise<StageEnd | undefined> {
  const { session, stage } = needs;
  const record = session.records.find(pinned.key);
  if (record === 'damaged') warn(needs, 'cache-damaged', `the record of an earlier run of ${stage.id} is damaged; it is not used`);
  if (record === undefined || record === 'damaged') return undefined;
  for (const result of [...record.results].reverse()) {
    const end = await restore(needs, pinned, result);
    if (end !== undefined) {
      session.records.noteUse(pinned.key);
      return end;
    }
    await session.records.dropResult(pinned.key, result);
  }
  return undefined;
}

async function restore(needs: StageNeeds, pinned: PinnedStage, result: ActionResult): Promise<StageEnd | undefined> {
  const { session, stage } = needs;
  const before = session.state.stages.get(stage.id);
  const { folder, names } = placeOf(session.plan, stage);
  const stands =
    before !== undefined && differingPorts(before.outputs, result.outputs).length === 0 && findTouched(folder, before, names) === undefined;
  const fetch = () => publishStage(session, stage, result.outputs, contentOf(session.store));
  const published = stands ? before : await measure(session.ports, stage.id, 'restore', fetch);
  if (published === undefined) {
    warn(needs, 'cache-damaged', `a kept result of ${stage.id} is damaged or incomplete in the cache; it is not used`);
    return undefined;
  }
  await restoreLog(needs, result);
  const accepted = accept(session, stage, pinned, { ...pick(published), metrics: result.metrics, durationMs: result.durationMs });
  const sizeBytes = stands ? 0 : Object.values(result.outputs).reduce((sum, artifact) => sum + artifact.sizeBytes, 0);
  return { outcome: { kind: 'restored', sizeBytes }, accepted, previousMetrics: before?.metrics };
}

/** `tanren log` shows the log of the run that made the result. */
async function restoreLog({ session, stage }: StageNeeds, result: ActionResult): Promise<void> {
  const bytes = result.log === undefined ? undefined : session.store.read(result.log);
  if (bytes !== undefined) await writeWhole(session.cache.log(session.plan.pipeline, stage.id), bytes, 'no-flush').catch(() => undefined);
}

const BACK_OFF_MS = 1_000;

/** Runs the stage, as often as its retries allow, and once more where an input changed under it. */
export async function runStage(needs: StageNeeds, first: PinnedStage, reasons: readonly string[]): Promise<StageEnd> {
  const { session, stage } = needs;
  const { emit, signal } = session.ports;
  let pinned = first;
  let inputRuns = 0;
  for (let attempt = 1; ; attempt++) {
    emit({ kind: 'stage-started', stage: stage.id, reasons, attempt });
    const keeper = needs.parts.keeperFor({ kept: needs.forced ? 'ignore' : 'use', warn: (code, message) => warn(needs, code, message) });
    const logPath = session.cache.log(session.plan.pipeline, stage.id);
    const run = await runOnce(session, stage, pinned, { keeper, reaper: needs.reaper, endOf: needs.endOf, logPath });
    try {
      if (signal.aborted) return cancelled;
      const input = pinned;
      const changed = await measure(session.ports, stage.id, 'check', () => session.pinner.findChanged(input));
      if (changed !== undefined) {
        if (++inputRuns > 1) throw inputChanged(changed);
        warn(needs, 'input-changed', `${nameOf(changed)} changed while the stage ran; it runs again`);
        pinned = await pinNow(needs);
        continue;
      }
      if (run.kind === 'completed') {
        const before = session.state.stages.get(stage.id);
        const measured = run.device === undefined ? pinned : pinDevice(pinned, run.device);
        const accepted = await keepResult(session, stage, measured, run);
        return { outcome: { kind: 'executed', durationMs: run.durationMs }, accepted, previousMetrics: before?.metrics };
      }
      if (attempt - inputRuns > stage.retries) return { outcome: { kind: 'failed', failure: run.failure }, accepted: undefined };
      const inMs = BACK_OFF_MS * 2 ** Math.min(attempt - 1, 6);
      emit({ kind: 'retrying', stage: stage.id, message: run.failure.message, inMs });
      if ((await measure(session.ports, stage.id, 'back-off', () => waitOrAbort(inMs, signal))) === 'aborted') return cancelled;
    } finally {
      await removeRunFolder(run.folder);
    }
  }
}

/** Anything thrown on the way becomes the stage's failure. */
export async function endWithFailure(work: () => Promise<StageEnd>): Promise<StageEnd> {
  try {
    return await work();
  } catch (error) {
    return { outcome: { kind: 'failed', failure: toFailure(error) }, accepted: undefined };
  }
}

function pick({ outputs, folderStamp }: Published): Published {
  return { outputs, folderStamp };
}

function plainArtifacts(outputs: AcceptedStage['outputs']): Artifacts {
  return Object.fromEntries(Object.entries(outputs).map(([port, { signature: _, ...artifact }]) => [port, artifact]));
}

function inputChanged(input: PinnedInput): EngineError {
  return new EngineError('input-changed', `${nameOf(input)} changed again while the stage ran: its result belongs to no one state of it`, {
    help: 'build again when nothing writes to it any more',
  });
}

function nameOf({ ref }: PinnedInput): string {
  return ref.kind === 'source' ? `source ${ref.path}` : `artifact ${ref.stage}.${ref.port}`;
}

function warn({ session, stage }: StageNeeds, code: WarningCode, message: string): void {
  session.ports.emit({ kind: 'warning', stage: stage.id, code, message });
}

async function waitOrAbort(ms: number, signal: AbortSignal): Promise<'waited' | 'aborted'> {
  try {
    await wait(ms, undefined, { signal });
    return 'waited';
  } catch {
    return 'aborted';
  }
}
