/** The build of one stage: its result is kept in place, restored from the cache, or made by a run. */
import { setTimeout as wait } from 'node:timers/promises';
import { onAbort } from '../../base/on-abort.js';
import { describeChange, findChanges } from '../action/changes.js';
import { nameOf, type PinnedStage, pinDevice } from '../action/pinned-stage.js';
import type { Session } from '../action/session.js';
import { compareWithLast } from '../action/session.js';
import { keepResult } from '../execute/keep-result.js';
import { measure } from '../execute/measure.js';
import type { PartService } from '../execute/part-service.js';
import { repairArtifact } from '../execute/repair-artifact.js';
import { keepInPlace, restoreResult } from '../execute/restore-result.js';
import type { RunHelpers } from '../execute/run-action.js';
import { type CompletedRun, runOnce } from '../execute/run-once.js';
import { findWritten } from '../execute/written-inputs.js';
import type { Contents } from '../model/artifact.js';
import { EngineError } from '../model/engine-error.js';
import type { WarningCode } from '../model/events.js';
import { type Failure, toFailure } from '../model/failure.js';
import type { PlannedStage, StageId } from '../model/plan.js';
import type { StageEnd } from '../model/stage-end.js';
import { cancelled } from '../model/stage-end.js';
import type { ActionResult } from '../store/action-records.js';
import type { OngoingRun } from './ongoing-runs.js';
import type { ResultRule } from './result-rule.js';
import type { RunRoom } from './run-room.js';

/** The next step for a stage: it has ended, a run is needed, or an ongoing run is joined. */
export type Approach =
  | { readonly kind: 'ended'; readonly end: StageEnd }
  | { readonly kind: 'run'; readonly pinned: PinnedStage; readonly reasons: readonly string[] }
  /** A run of exactly this action has been going on since before the build switched to a newer plan. */
  | { readonly kind: 'join'; readonly run: OngoingRun };

export interface StageNeeds {
  readonly session: Session;
  readonly stage: PlannedStage;
  readonly forced: boolean;
  readonly parts: PartService;
  /** Warnings of this stage that were already emitted. */
  readonly said: Set<string>;
  readonly room: RunRoom;
  /** Aborted when the build switches to a newer plan. Runs then continue, but nothing waits for them. */
  readonly superseded: AbortSignal;
  /** Defined only in a frozen build. */
  readonly rule: ResultRule | undefined;
  /** Returns the end of each stage that this one depends on, directly or indirectly. */
  readonly endOf: (stage: StageId) => StageEnd | undefined;
}

/** Looks for a result that makes a run unnecessary, in place or in the cache. @throws EngineError if an input cannot be pinned. */
export async function approach(needs: StageNeeds): Promise<Approach> {
  const { session, stage } = needs;
  const pinned = await pinNow(needs);
  const run = await findWantedRun(needs, pinned);
  if (run !== undefined) return { kind: 'join', run };
  const failed = await findFailure(needs, pinned);
  if (failed !== undefined) return { kind: 'ended', end: failed };
  needs.rule?.assertAction(stage, pinned.manifest);
  if (needs.forced) return { kind: 'run', pinned, reasons: ['forced'] };
  const ruled = await needs.rule?.find(session, stage, pinned);
  if (ruled?.kind === 'ended') return ruled;
  if (ruled?.kind === 'must-run') return { kind: 'run', pinned, reasons: ruled.reasons };
  const inPlace = await keepInPlace(session, stage, pinned);
  if (inPlace !== undefined) return { kind: 'ended', end: inPlace };
  const restored = await restoreFromRecord(needs, pinned);
  if (restored !== undefined) return { kind: 'ended', end: restored };
  return { kind: 'run', pinned, reasons: (await compareWithLast(session, stage, pinned.manifest)).reasons };
}

function pinNow({ session, stage, endOf }: StageNeeds): Promise<PinnedStage> {
  return measure(session.ports, stage.id, 'hash', () => session.pinner.pin(stage, id => endOf(id)?.accepted));
}

/** Returns the stage's ongoing run if it is of this action and its inputs are unchanged. Any other ongoing run is stopped at once. */
async function findWantedRun({ session, stage, room: { runs } }: StageNeeds, pinned: PinnedStage): Promise<OngoingRun | undefined> {
  const run = await runs.find(stage.id);
  if (run === undefined) return undefined;
  const changed = await session.pinner.findChanged(run.pinned);
  if (run.pinned.key === pinned.key && changed === undefined) return run;
  const [change] = findChanges(run.pinned.manifest, pinned.manifest);
  const why = changed === undefined ? undefined : `${changed} changed`;
  await runs.stop(stage.id, why ?? (change === undefined ? 'it is another action now' : describeChange(change)));
  return undefined;
}

/** Returns the failure of the same action under an older plan of this build. With unchanged inputs it would fail again. */
async function findFailure({ session, stage, room }: StageNeeds, pinned: PinnedStage): Promise<StageEnd | undefined> {
  const failure = room.failures.get(stage.id);
  if (failure === undefined || failure.pinned.key !== pinned.key) return undefined;
  return (await session.pinner.findChanged(failure.pinned)) === undefined ? failure.end : undefined;
}

async function restoreFromRecord(needs: StageNeeds, pinned: PinnedStage): Promise<StageEnd | undefined> {
  const { session, stage } = needs;
  const record = await session.records.find(pinned.key);
  if (record === 'damaged') warn(needs, 'cache-damaged', `the record of an earlier run of ${stage.id} is damaged; it is not used`);
  if (record === undefined || record === 'damaged') return undefined;
  for (const result of [...record.results].reverse()) {
    const end = fitsPorts(needs, result) ? await restoreResult(session, stage, pinned, result) : undefined;
    if (end !== undefined) {
      await session.records.noteUse(pinned.key);
      return end;
    }
    await session.records.dropResult(pinned.key, result);
  }
  return undefined;
}

/** Checks that the outputs of a result fit the stage's ports, because a record may come from another cache. */
function fitsPorts(needs: StageNeeds, { outputs }: ActionResult): boolean {
  const { id, outputPorts } = needs.stage;
  const stray = Object.keys(outputs).find(name => !Object.hasOwn(outputPorts, name));
  const missing = Object.entries(outputPorts).find(([name, port]) => !port.optional && !Object.hasOwn(outputs, name))?.[0];
  if (stray === undefined && missing === undefined) return true;
  const what = stray === undefined ? `lacks its output "${missing}"` : `has an output "${stray}", which the stage has not`;
  warn(needs, 'cache-damaged', `a kept result of ${id} ${what}; it is not used`);
  return false;
}

const BACK_OFF_MS = 1_000;

/** Runs the stage. It runs again after a failure as often as `retries` allows, and once more if an input changed during a run. */
export async function runStage(needs: StageNeeds, first: PinnedStage, reasons: readonly string[]): Promise<StageEnd> {
  const { session, stage } = needs;
  const { emit, signal } = session.ports;
  let pinned = first;
  let inputRuns = 0;
  let artifacts: RunHelpers['artifacts'] = 'links';
  for (let attempt = 1; ; attempt++) {
    emit({ kind: 'stage-started', stage: stage.id, reasons, attempt });
    const conclusion = await concludeRun(needs, startRun(needs, pinned, artifacts));
    if (conclusion.kind === 'ended') return conclusion.end;
    if (conclusion.kind === 'artifact-written') {
      warn(
        needs,
        'input-changed',
        `${conclusion.artifact} was written to while the stage ran; it is restored, and the stage runs again on a copy`,
      );
      artifacts = 'copies';
      attempt--;
      pinned = await pinNow(needs);
      continue;
    }
    if (conclusion.kind === 'input-changed') {
      if (++inputRuns > 1) throw inputChanged(conclusion.what);
      warn(needs, 'input-changed', `${conclusion.what} changed while the stage ran; it runs again`);
      pinned = await pinNow(needs);
      continue;
    }
    const { failure } = conclusion;
    if (attempt - inputRuns > stage.retries) return noteFailure(needs, pinned, failure);
    const inMs = BACK_OFF_MS * 2 ** Math.min(attempt - 1, 6);
    emit({ kind: 'retrying', stage: stage.id, message: failure.message, inMs });
    const until = AbortSignal.any([signal, needs.superseded]);
    if ((await measure(session.ports, stage.id, 'back-off', () => waitOrAbort(inMs, until))) === 'aborted') return cancelled;
  }
}

/** Takes over a run that was started before the build switched to a newer plan. @returns undefined if the stage must run again. */
export async function joinRun(needs: StageNeeds, run: OngoingRun): Promise<StageEnd | undefined> {
  const conclusion = await concludeRun(needs, run);
  if (conclusion.kind === 'ended') return conclusion.end;
  if (conclusion.kind !== 'failed' || needs.stage.retries > 0) return undefined;
  return noteFailure(needs, run.pinned, conclusion.failure);
}

function noteFailure({ stage, room }: StageNeeds, pinned: PinnedStage, failure: Failure): StageEnd {
  const end: StageEnd = { outcome: { kind: 'failed', failure }, accepted: undefined };
  room.failures.set(stage.id, { pinned, end });
  return end;
}

function startRun(needs: StageNeeds, pinned: PinnedStage, artifacts: RunHelpers['artifacts']): OngoingRun {
  const { session, stage, parts, room, endOf } = needs;
  const logPath = session.cache.log(session.plan.pipeline, stage.id);
  const keeper = parts.keeperFor({
    plugin: pinned.code.root,
    kept: needs.forced ? 'ignore' : 'use',
    warn: (code, message) => warn(needs, code, message),
    findChangedCode: () => session.pinner.findChanged({ inputs: [], tools: [], code: pinned.code }),
    onPart: (part, startMs, endMs) => session.ports.emit({ kind: 'span', stage: stage.id, what: 'part', startMs, endMs, part }),
  });
  return room.runs.start(stage.id, pinned, stop => {
    const ports = { ...session.ports, signal: AbortSignal.any([session.ports.signal, stop]) };
    return runOnce({ ...session, ports }, stage, pinned, {
      keeper,
      reaper: room.reaper,
      starters: room.starters,
      guard: room.guard,
      artifacts,
      endOf,
      logPath,
    });
  });
}

type Conclusion =
  | { readonly kind: 'ended'; readonly end: StageEnd }
  /** `what`: a source, an artifact, a program, or a module of the plugin. */
  | { readonly kind: 'input-changed'; readonly what: string }
  /** An artifact that the run read was written to. It is already restored. */
  | { readonly kind: 'artifact-written'; readonly artifact: string }
  | { readonly kind: 'failed'; readonly failure: Failure };

/** Waits for a run. Keeps its result if the inputs have not changed since the run began. */
async function concludeRun({ session, stage, room, superseded, rule }: StageNeeds, run: OngoingRun): Promise<Conclusion> {
  const end = await unlessAborted(run.ended, superseded);
  if (end === 'aborted') return { kind: 'ended', end: cancelled };
  room.runs.release(stage.id);
  try {
    if (session.ports.signal.aborted) return { kind: 'ended', end: cancelled };
    const { sharedMs } = end;
    const written = sharedMs === undefined ? undefined : await findWritten(run.pinned.inputs, sharedMs);
    if (written !== undefined) {
      await repairArtifact(session, written, room.repairs);
      return { kind: 'artifact-written', artifact: nameOf(written) };
    }
    const what = await measure(session.ports, stage.id, 'check', () => session.pinner.findChanged(withoutArtifacts(run.pinned)));
    if (what !== undefined) return { kind: 'input-changed', what };
    if (end.kind === 'failed') return end;
    rule?.assertOutputs(stage, run.pinned.manifest, contentsOf(end));
    const before = session.state.stages.get(stage.id);
    const measured = end.device === undefined ? run.pinned : pinDevice(run.pinned, end.device);
    const accepted = await keepResult(session, stage, measured, end);
    return {
      kind: 'ended',
      end: { outcome: { kind: 'executed', durationMs: end.durationMs }, accepted, previousMetrics: before?.metrics },
    };
  } finally {
    await room.starters.remove(end.folder);
  }
}

/** Artifacts are checked separately, by `findWritten`. */
function withoutArtifacts(pinned: PinnedStage): PinnedStage {
  return { ...pinned, inputs: pinned.inputs.filter(({ ref }) => ref.kind === 'source') };
}

/** Waits for `work` or for the signal, whichever comes first. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | 'aborted'> {
  if (signal.aborted) return 'aborted';
  let forget: () => void = () => undefined;
  const aborted = new Promise<'aborted'>(resolve => {
    forget = onAbort(signal, () => resolve('aborted'));
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    forget();
  }
}

/** Converts anything thrown to a failure of the stage. */
export async function endWithFailure<T = StageEnd>(work: () => Promise<StageEnd | T>): Promise<StageEnd | T> {
  try {
    return await work();
  } catch (error) {
    return { outcome: { kind: 'failed', failure: toFailure(error) }, accepted: undefined };
  }
}

function contentsOf({ outputs }: CompletedRun): Contents {
  return Object.fromEntries(Object.entries(outputs).map(([port, { artifact }]) => [port, artifact]));
}

function inputChanged(what: string): EngineError {
  return new EngineError('input-changed', `${what} changed again while the stage ran: its result belongs to no one state of it`, {
    help: 'build again when nothing writes to it any more',
  });
}

/** Emits each warning once, because a stage is checked again just before it runs and finds the same problems. */
function warn({ session, stage, said }: StageNeeds, code: WarningCode, message: string): void {
  if (said.has(message)) return;
  said.add(message);
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
