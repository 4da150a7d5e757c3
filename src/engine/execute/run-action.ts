/** One run of a stage's action: creation of its order, and its execution by the plugin's runner. */

import type { JsonObject } from '../../base/json.js';
import { clipText, MAX_PROGRESS_CHARACTERS } from '../../base/text/clip-text.js';
import { type Mask, maskJson } from '../../stage/mask.js';
import { summarizeBuild } from '../action/build-summary.js';
import { findBundle } from '../action/code/code-table.js';
import { seedOf } from '../action/manifest.js';
import { isUnpublished, type PinnedInput, type PinnedStage } from '../action/pinned-stage.js';
import type { Session } from '../action/session.js';
import { artifactName } from '../model/artifact-path.js';
import type { Failure } from '../model/failure.js';
import { isOnBoard, type PlannedStage, type StageId } from '../model/plan.js';
import { isInProcess, type PluginEntry } from '../model/plugin-entry.js';
import type { StageEnd } from '../model/stage-end.js';
import { declaredBy } from './declared-places.js';
import type { Guard, RunGuard } from './guard/guard.js';
import type { RunPartStore } from './parts/part-service.js';
import type { ListedOutputs } from './remote/list-outputs.js';
import { cannotLeave, noServer, type RemoteRuns } from './remote/remote-runs.js';
import { findReasonToStay } from './remote/where-to-run.js';
import { inProcessRunner } from './run/in-process-run.js';
import type { LentSlots } from './run/lent-slots.js';
import type { Reaper } from './run/reaper.js';
import { type InputLink, nameInputs, type RunInput } from './run/run-folder.js';
import type { RunListener, Runner, RunOrder } from './run/runner.js';
import { workerRunner } from './run/worker-run.js';
import type { Starters } from './starter/starters.js';
import type { ActionDocument, LocalDocument } from './worker/action-document.js';
import { RUN_LAYOUT } from './worker/action-document.js';
import { assertUnwritten, clockOf, copyArtifacts, isProvenFor } from './written-inputs.js';

/** What a run uses besides the session. */
export interface RunHelpers {
  readonly partStore: RunPartStore;
  readonly reaper: Reaper;
  readonly starters: Starters;
  /** Returns the end of each stage that this one depends on. */
  readonly endOf: (stage: StageId) => StageEnd | undefined;
  /** Absolute path of the run's log. */
  readonly logPath: string;
  readonly guard: Guard | undefined;
  /** Defined if the run may be remote. */
  readonly remote?: RemoteHelp | undefined;
  /** Parts that the stage asks for at once; default: 1. */
  readonly partsAtOnce?: number | undefined;
  readonly lentSlots?: LentSlots | undefined;
  /** 'copies': the run reads a private copy of each artifact. */
  readonly artifacts: 'links' | 'copies';
}

/** What a run uses to be remote. */
export interface RemoteHelp {
  readonly need: 'required' | 'preferred';
  /** Undefined if the build has no server. */
  readonly runs: RemoteRuns | undefined;
  readonly lookup: 'use' | 'skip';
  /** 'stay': outputs that nothing here needs stay on the server. */
  readonly outputs: 'come' | 'stay';
  /** Runs work here in a slot of the stage, after no worker could run it. */
  readonly inSlotHere: <T>(work: () => Promise<T>) => Promise<T>;
}

export type ActionEnd =
  /** The outputs are in the run folder, but for those that stayed on the server: then `left` lists all. */
  | { readonly kind: 'succeeded'; readonly left?: ListedOutputs | undefined }
  | { readonly kind: 'failed'; readonly failure: Failure }
  /** It needs inputs here that stayed on the server. `next`: where it runs then. */
  | { readonly kind: 'inputs-left'; readonly next: 'as-planned' | 'here' };

/** Receives the messages of a run. They are masked and reported by `listenTo`. */
export interface RunSinks extends Pick<RunListener, 'identify' | 'usage'> {
  /** Called when the stage's program runs; the time before does not count for its timeout. */
  readonly begin: () => void;
  /** Called when the program runs no more, and runs again later, with its whole timeout. */
  readonly pause: () => void;
  write(level: 'info' | 'warning' | 'output', text: string): void;
  readonly mask: Mask;
}

/** Runs the action in its run folder. */
export async function runAction(
  session: Session,
  stage: PlannedStage,
  pinned: PinnedStage,
  run: { readonly folder: string; readonly helpers: RunHelpers; readonly signal: AbortSignal; readonly sinks: RunSinks },
): Promise<ActionEnd> {
  const { helpers } = run;
  if (helpers.remote !== undefined) {
    const end = await runOnWorker(session, stage, pinned, run, helpers.remote);
    if (end !== 'here') return end;
    if (pinned.inputs.some(isUnpublished)) return { kind: 'inputs-left', next: 'here' };
    run.sinks.pause();
    return endOf(await helpers.remote.inSlotHere(() => runHere(session, stage, pinned, run)));
  }
  return endOf(await runHere(session, stage, pinned, run));
}

function endOf(failure: Failure | undefined): ActionEnd {
  return failure === undefined ? { kind: 'succeeded' } : { kind: 'failed', failure };
}

type Run = Parameters<typeof runAction>[3];

async function runHere(session: Session, stage: PlannedStage, pinned: PinnedStage, run: Run): Promise<Failure | undefined> {
  const { folder, helpers, sinks } = run;
  sinks.begin();
  const ownCopies = helpers.artifacts === 'copies' ? await copyArtifacts(session, folder, pinned.inputs) : undefined;
  const read = ownCopies === undefined ? pinned : { ...pinned, inputs: ownCopies };
  const guard = helpers.guard?.open(declaredBy(session, stage, read, folder));
  helpers.reaper.open();
  try {
    const failure = await runnerOf(stage.plugin).run(makeOrder(session, stage, read, run, guard));
    const failed = guard?.findViolation() ?? failure;
    if (failed === undefined && ownCopies !== undefined) await assertUnwritten(ownCopies);
    return failed;
  } finally {
    await guard?.close();
  }
}

/** @returns 'here' if no worker could run the stage and it may run here. */
async function runOnWorker(
  session: Session,
  stage: PlannedStage,
  pinned: PinnedStage,
  run: Run,
  { need, runs, lookup, outputs }: RemoteHelp,
): Promise<ActionEnd | 'here'> {
  // Only a stage on a board gets here with a reason: elsewhere its measurement would count as that of the board.
  const reason = findReasonToStay(stage);
  if (reason !== undefined) return endOf(cannotLeave(reason));
  if (runs === undefined) return endOf(noServer());
  if (need === 'preferred' && runs.isLeftOut()) return 'here';
  const { makeRemoteJob } = await import('./remote/remote-job.js');
  const { runRemotely } = await import('./remote/remote-run.js');
  const brings = outputs === 'stay' ? metricsPaths(stage) : undefined;
  const job = makeRemoteJob(session, stage, pinned, { runs, lookup, brings, onRunning: run.sinks.begin });
  if (job === undefined) {
    const hasRuntime = session.ports.runtime !== undefined;
    const why = hasRuntime ? 'its code imports installed packages' : 'this installation has no runtime for remote workers';
    if (isOnBoard(stage) || (need === 'required' && !hasRuntime)) return endOf(cannotLeave(why));
    run.sinks.write('info', `it runs here, because ${why}${hasRuntime ? ', which do not travel to remote workers' : ''}`);
    return 'here';
  }
  const end = await runRemotely(makeOrder(session, stage, pinned, run, undefined), job);
  if (end.kind === 'ended') {
    run.sinks.write('info', `ran on a remote worker${end.worker === '' ? '' : `: ${end.worker}`}`);
    return end.failure === undefined ? { kind: 'succeeded', left: end.left } : endOf(end.failure);
  }
  if (end.kind === 'input-lost') {
    run.sinks.write('info', 'the server has lost an input, which is made again');
    return { kind: 'inputs-left', next: 'as-planned' };
  }
  run.sinks.write('warning', `no remote worker ran it: ${end.why}`);
  if (need === 'required') return endOf(runs.failureOf(end));
  runs.noteFallback(stage.id, end);
  return 'here';
}

function makeOrder(session: Session, stage: PlannedStage, read: PinnedStage, run: Run, guard: RunGuard | undefined): RunOrder {
  const { ports } = session;
  const { folder, helpers, signal, sinks } = run;
  return {
    ...makeDocuments(session, stage, read, folder, helpers),
    folder,
    installRoot: ports.installRoot,
    bundle: findBundle(ports.installRoot, read.code),
    environment: ports.environment,
    declaredEnv: declaredEnv(stage, ports.environment),
    partStore: helpers.partStore,
    reaper: helpers.reaper,
    starters: helpers.starters,
    standby: ports.standby,
    lentSlots: helpers.lentSlots,
    guard,
    signal,
    mask: sinks.mask,
    listener: listenTo(session, stage, sinks),
  };
}

function runnerOf(entry: PluginEntry): Runner {
  return isInProcess(entry) ? inProcessRunner(entry.plugin) : workerRunner;
}

function makeDocuments(
  { plan }: Session,
  stage: PlannedStage,
  pinned: PinnedStage,
  folder: string,
  { endOf, partsAtOnce, lentSlots }: Pick<RunHelpers, 'endOf' | 'partsAtOnce' | 'lentSlots'>,
): { readonly action: ActionDocument; readonly local: LocalDocument; readonly links: readonly InputLink[] } {
  const { plugin, modulePath } = stage.plugin;
  const beganMs = clockOf(folder);
  const inputs = pinned.inputs.map(input => toRunInput(input, beganMs));
  const build = plugin.needs === 'build-summary' ? summarizeBuild(plan, stage, endOf) : undefined;
  const { inputs: paths, known, links } = nameInputs(inputs);
  const tools = Object.fromEntries(pinned.tools.map(({ name, path }) => [name, path]));
  const isChecked = stage.plugin.origin !== 'built-in' && pinned.code.modules !== undefined;
  return {
    action: {
      format: 1,
      plugin: plugin.name,
      key: seedOf(pinned.manifest),
      params: stage.params,
      inputs: paths,
      outputs: outputPaths(stage),
      env: [...stage.env, ...stage.secrets],
      secrets: stage.secrets,
      ...(build === undefined ? {} : { build }),
      local: reasonsToStay(stage),
    },
    local: {
      ...(partsAtOnce === undefined ? {} : { partsAtOnce }),
      ...(lentSlots === undefined ? {} : { partProcesses: lentSlots.most }),
      modulePath,
      ...(isChecked ? { modules: pinned.code.modules } : {}),
      known,
      tools,
    },
    links,
  };
}

/** Reasons to run on this machine only: secrets must not leave it, and content fetched from the network is in no key. */
function reasonsToStay({ secrets, network }: PlannedStage): ActionDocument['local'] {
  return [...(secrets.length > 0 ? (['secrets'] as const) : []), ...(network === 'allowed' ? (['network'] as const) : [])];
}

/** Converts messages of a run to events and log lines, with secrets masked. */
function listenTo({ ports: { emit } }: Session, { id }: PlannedStage, { write, identify, usage, mask }: RunSinks): RunListener {
  return {
    log(level, said) {
      const text = mask.apply(said);
      write(level, text);
      const clipped = clipText(text);
      for (const message of clipped.replace(/\r?\n$/, '').split(/\r?\n/)) emit({ kind: 'log', stage: id, level, message });
      if (level === 'warning') emit({ kind: 'warning', stage: id, code: 'stage-warning', message: clipped });
    },
    progress: (done, total, what) =>
      emit({ kind: 'progress', stage: id, done, total, what: clipText(mask.apply(what), MAX_PROGRESS_CHARACTERS) }),
    identify: identity => identify(maskObject(identity, mask)),
    usage,
  };
}

function maskObject(identity: JsonObject, mask: Mask): JsonObject {
  return Object.fromEntries(Object.entries(identity).map(([name, value]) => [name, maskJson(value, mask)]));
}

function toRunInput(input: PinnedInput, beganMs: number): RunInput {
  const { port, entry, path, artifact, signature, proof } = input;
  const isKnown = artifact.kind === 'file' && proof === 'settled' && (input.ref.kind === 'source' || isProvenFor(input, beganMs));
  const known = isKnown ? { stamp: signature, digest: artifact.digest } : undefined;
  return { port, entry, path, kind: artifact.kind, known };
}

/** Returns the path of each output port, relative to the run folder. */
export function outputPaths(stage: PlannedStage): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.keys(stage.outputPorts).map(port => [port, `${RUN_LAYOUT.outputs}/${artifactName(stage, port)}`]));
}

/** Metrics come here in any case, for gates and tables. */
function metricsPaths(stage: PlannedStage): ReadonlySet<string> {
  const paths = outputPaths(stage);
  return new Set(Object.entries(stage.outputPorts).flatMap(([port, { kind }]) => (kind === 'metrics' ? [paths[port] ?? ''] : [])));
}

function declaredEnv(stage: PlannedStage, environment: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...stage.env, ...stage.secrets].flatMap(name => (environment[name] === undefined ? [] : [[name, environment[name] ?? '']])),
  );
}
