/** The run of one stage: repeated after a failure or a changed input; its result is kept if the inputs have not changed. */
import { setTimeout as wait } from 'node:timers/promises';
import { unlessAborted } from '../../base/on-abort.js';
import { nameOf, type PinnedStage, pinDevice } from '../action/pinned-stage.js';
import { leaveResult } from '../execute/leave-result.js';
import { mayShare } from '../execute/may-share.js';
import { measure } from '../execute/measure.js';
import { createCachingPartStore } from '../execute/parts/caching-part-store.js';
import { placeToRun, spreadsParts } from '../execute/remote/where-to-run.js';
import { repairArtifact } from '../execute/repair-artifact.js';
import type { LentSlots } from '../execute/run/lent-slots.js';
import type { RunHelpers } from '../execute/run-action.js';
import { type CompletedRun, type InputsLeft, runOnce } from '../execute/run-once.js';
import { storeResult } from '../execute/store-result.js';
import { findWritten } from '../execute/written-inputs.js';
import type { Contents } from '../model/artifact.js';
import { EngineError } from '../model/engine-error.js';
import type { Failure } from '../model/failure.js';
import { isInProcess } from '../model/plugin-entry.js';
import type { StageEnd } from '../model/stage-end.js';
import { cancelled } from '../model/stage-end.js';
import { createLentSlots } from './lent-slots.js';
import { mayStayRemote } from './may-stay-remote.js';
import type { OngoingRun } from './ongoing-runs.js';
import { openRemoteParts } from './remote-part-runs.js';
import { unitsBeside, unitsHere } from './slot-units.js';
import { pinNow, type StageNeeds, warn } from './stage-needs.js';

const BACK_OFF_MS = 1_000;

/** Runs the stage. It runs again after a failure as often as `retries` allows, and once more if an input changed during a run. */
export async function runStage(needs: StageNeeds, first: PinnedStage, reasons: readonly string[]): Promise<StageEnd | LeftInputs> {
  const { session, stage } = needs;
  const { emit, signal } = session.ports;
  let pinned = first;
  let inputRuns = 0;
  let artifacts: RunHelpers['artifacts'] = 'links';
  for (let attempt = 1; ; attempt++) {
    emit({ kind: 'stage-started', stage: stage.id, reasons, attempt });
    const conclusion = await concludeRun(needs, startRun(needs, pinned, artifacts));
    if (conclusion.kind === 'ended') return conclusion.end;
    if (conclusion.kind === 'inputs-left') return conclusion;
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

function noteFailure({ stage, services }: StageNeeds, pinned: PinnedStage, failure: Failure): StageEnd {
  const end: StageEnd = { outcome: { kind: 'failed', failure }, accepted: undefined };
  services.failures.set(stage.id, { pinned, end });
  return end;
}

function startRun(needs: StageNeeds, pinned: PinnedStage, artifacts: RunHelpers['artifacts']): OngoingRun {
  const { session, stage, parts, services, endOf } = needs;
  const logPath = session.cache.log(session.plan.pipeline, stage.id);
  const remoteParts = openRemoteParts(needs, pinned);
  const partStore = createCachingPartStore(parts, {
    plugin: pinned.code.root,
    kept: needs.forced ? 'ignore' : 'use',
    computeRemotely: remoteParts?.compute,
    bring: mayShare(stage) ? key => session.remote?.bringPart(stage.id, stage.plugin.name, key) ?? Promise.resolve(false) : undefined,
    warn: (code, message) => warn(needs, code, message),
    findChangedCode: () => session.pinner.findChanged({ inputs: [], tools: [], code: pinned.code }),
    onPart: (part, startMs, endMs) => session.ports.emit({ kind: 'span', stage: stage.id, what: 'part', startMs, endMs, part }),
  });
  // Beside remote workers, only parts that no worker could compute wait for slots.
  const lentSlots = openLentSlots(needs);
  return services.runs.start(stage.id, pinned, stop => {
    const ports = { ...session.ports, signal: AbortSignal.any([session.ports.signal, stop]) };
    remoteParts?.stopWith(ports.signal);
    return runOnce({ ...session, ports }, stage, pinned, {
      partStore,
      partsAtOnce: remoteParts?.atOnce ?? (lentSlots === undefined ? undefined : (lentSlots.most + 1) * PARTS_PER_SLOT),
      lentSlots,
      reaper: services.reaper,
      starters: services.starters,
      guard: services.guard,
      remote: remoteHelp(needs),
      artifacts,
      endOf,
      logPath,
    }).finally(() => {
      lentSlots?.close();
      return remoteParts?.close();
    });
  });
}

/** Parts that the worker knows of: enough to see what is left. */
const PARTS_PER_SLOT = 64;
const MOST_LENT = 31;

/** @returns undefined if the stage has no parts to spread, or takes all slots that there are. */
function openLentSlots({ stage, services }: StageNeeds): LentSlots | undefined {
  if (!spreadsParts(stage) || isInProcess(stage.plugin)) return undefined;
  const units = unitsHere(stage);
  // What takes no processor by its own account would get any number of processes.
  if ((units.cpu ?? 0) < 1) return undefined;
  const most = Math.min(MOST_LENT, services.slots.fits(units) - 1);
  return most < 1 ? undefined : createLentSlots(services.slots, units, most);
}

/** What the run needs to be remote; undefined if it runs here. */
function remoteHelp(needs: StageNeeds): RunHelpers['remote'] {
  const { stage, services, forced } = needs;
  if (needs.place === 'here') return undefined;
  const place = placeToRun(stage, services.remote?.asked, services.remote === undefined ? 'none' : 'named');
  // A stage that must spread its parts, in a build without a server, fails like any other.
  if (place.kind === 'here' || (spreadsParts(stage) && services.remote !== undefined)) return undefined;
  return {
    need: place.need,
    runs: services.remote,
    lookup: forced ? 'skip' : 'use',
    outputs: mayShare(stage) && mayStayRemote(needs) ? 'stay' : 'come',
    inSlotHere: work => services.slots.add(work, { urgency: FIRST, units: unitsBeside(needs.held, stage) }),
  };
}

/** Larger than any urgency of a stage: a run that no worker could run has waited already. */
const FIRST = 1e18;

/** The stage needs inputs here that stayed on a server. They come when its slot is free, because the stages that make them may have to run. */
export type LeftInputs = Pick<InputsLeft, 'kind' | 'next'>;

type Conclusion =
  | { readonly kind: 'ended'; readonly end: StageEnd }
  /** `what`: a source, an artifact, a program, or a module of the plugin. */
  | { readonly kind: 'input-changed'; readonly what: string }
  /** An artifact that the run read was written to. It is already restored. */
  | { readonly kind: 'artifact-written'; readonly artifact: string }
  | LeftInputs
  | { readonly kind: 'failed'; readonly failure: Failure };

/** Waits for a run. Keeps its result if the inputs have not changed since the run began. */
async function concludeRun({ session, stage, services, superseded, rule }: StageNeeds, run: OngoingRun): Promise<Conclusion> {
  const end = await unlessAborted(run.ended, superseded);
  if (end === 'aborted') return { kind: 'ended', end: cancelled };
  services.runs.release(stage.id);
  try {
    if (session.ports.signal.aborted) return { kind: 'ended', end: cancelled };
    const { sharedMs } = end;
    const written = sharedMs === undefined ? undefined : await findWritten(run.pinned.inputs, sharedMs);
    if (written !== undefined) {
      await repairArtifact(session, written, services.repairs);
      return { kind: 'artifact-written', artifact: nameOf(written) };
    }
    const what = await measure(session.ports, stage.id, 'check', () => session.pinner.findChanged(withoutArtifacts(run.pinned)));
    if (what !== undefined) return { kind: 'input-changed', what };
    if (end.kind === 'failed' || end.kind === 'inputs-left') return end;
    rule?.assertOutputs(stage, run.pinned.manifest, contentsOf(end));
    if (end.content === 'server') {
      const accepted = await leaveResult(session, stage, run.pinned, end);
      return { kind: 'ended', end: { outcome: { kind: 'executed', durationMs: end.durationMs, content: 'left' }, accepted } };
    }
    const before = session.state.stages.get(stage.id);
    const measured = end.device === undefined ? run.pinned : pinDevice(run.pinned, end.device);
    const accepted = await storeResult(session, stage, measured, end);
    return {
      kind: 'ended',
      end: { outcome: { kind: 'executed', durationMs: end.durationMs }, accepted, previousMetrics: before?.metrics },
    };
  } finally {
    await services.starters.remove(end.folder);
  }
}

/** Artifacts are checked separately, by `findWritten`. */
function withoutArtifacts(pinned: PinnedStage): PinnedStage {
  return { ...pinned, inputs: pinned.inputs.filter(({ ref }) => ref.kind === 'source') };
}

function contentsOf({ outputs }: CompletedRun): Contents {
  return Object.fromEntries(Object.entries(outputs).map(([port, { artifact }]) => [port, artifact]));
}

function inputChanged(what: string): EngineError {
  return new EngineError('input-changed', `${what} changed again while the stage ran: its result belongs to no single state of it`, {
    help: 'build again when nothing writes to it any more',
  });
}

async function waitOrAbort(ms: number, signal: AbortSignal): Promise<'waited' | 'aborted'> {
  try {
    await wait(ms, undefined, { signal });
    return 'waited';
  } catch {
    return 'aborted';
  }
}
