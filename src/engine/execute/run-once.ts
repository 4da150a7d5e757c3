/** What comes of one try to run an action? Its outputs, digested, in a folder of their own; or why there are none. */
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import type { JsonObject } from '../../base/json.js';
import { type Mask, makeMask, maskJson } from '../../stage/mask.js';
import { summarizeBuild } from '../action/build-summary.js';
import { seedOf } from '../action/manifest.js';
import type { PinnedInput, PinnedStage } from '../action/pin-stage.js';
import type { Session } from '../action/session.js';
import { artifactName } from '../model/artifact-path.js';
import { EngineError } from '../model/engine-error.js';
import type { Failure } from '../model/failure.js';
import { toFailure } from '../model/failure.js';
import type { PlannedStage, StageId } from '../model/plan.js';
import { isInProcess } from '../model/plugin-entry.js';
import type { StageEnd } from '../model/stage-end.js';
import { withOpenFolders } from '../store/files/open-folders.js';
import type { CollectedOutput } from './collect.js';
import { collectOutputs } from './collect.js';
import { declaredBy } from './declared-places.js';
import type { Guard } from './guard/guard.js';
import { runInProcess } from './in-process-run.js';
import { measure } from './measure.js';
import type { RunKeeper } from './part-service.js';
import type { Reaper } from './reaper.js';
import { linkInputs, makeRunFolder, writeActionDocument } from './run-folder.js';
import { openRunLog } from './run-log.js';
import { type MetricsFile, readMetrics } from './stage-metrics.js';
import type { Starters } from './starter/starters.js';
import { watchDevice } from './watch-device.js';
import type { ActionDocument } from './worker/action-document.js';
import { absolutePaths, RUN_LAYOUT } from './worker/action-document.js';
import { type RunListener, type RunOrder, runInWorker } from './worker-run.js';

export interface CompletedRun {
  readonly kind: 'completed';
  readonly folder: string;
  readonly outputs: Readonly<Record<string, CollectedOutput>>;
  readonly metrics: JsonObject | undefined;
  readonly log: Buffer | undefined;
  /** Keys of the kept parts that it used. */
  readonly parts: ReadonlySet<string>;
  readonly durationMs: number;
  /** What the device says it is, on which the stage measured. */
  readonly device: JsonObject | undefined;
}

export type RunEnd = CompletedRun | { readonly kind: 'failed'; readonly folder: string; readonly failure: Failure };

/** What a run uses besides the session. */
export interface RunHelpers {
  readonly keeper: RunKeeper;
  readonly reaper: Reaper;
  readonly starters: Starters;
  /** How the stages before it have ended. */
  readonly endOf: (stage: StageId) => StageEnd | undefined;
  /** Absolute path of the run's log. */
  readonly logPath: string;
  readonly guard: Guard | undefined;
}

export async function runOnce(session: Session, stage: PlannedStage, pinned: PinnedStage, helpers: RunHelpers): Promise<RunEnd> {
  const { ports, plan } = session;
  const { logPath } = helpers;
  const started = performance.now();
  const folder = newRunFolder(session);
  const log = openRunLog(logPath, message => ports.emit({ kind: 'warning', stage: stage.id, code: 'cache-write-failed', message }));
  let peakBytes: number | undefined;
  let logged = 'nothing' as 'nothing' | 'something';
  const timeout = stage.timeoutMs === undefined ? undefined : AbortSignal.timeout(stage.timeoutMs);
  const signal = timeout === undefined ? ports.signal : AbortSignal.any([ports.signal, timeout]);
  const device = watchDevice(session, stage);
  const mask = makeMask(stage.secrets.map(name => ports.environment[name]));
  try {
    const write = (level: 'info' | 'warning' | 'output', text: string): void => {
      logged = 'something';
      log.write(level === 'output' ? text : `${level === 'warning' ? 'warning: ' : ''}${text}\n`);
    };
    const usage = (bytes: number): void => {
      peakBytes = bytes;
    };
    const act = () => run(session, stage, pinned, folder, helpers, signal, { write, identify: device.identify, usage, mask });
    const failure = await measure(ports, stage.id, 'run', act, () => ({ peakBytes }));
    if (timeout?.aborted === true && !ports.signal.aborted) throw timedOut(stage.timeoutMs ?? 0);
    if (failure !== undefined) return { kind: 'failed', folder, failure: withLog(failure) };
    const collect = () => collectOutputs(stage, absolutePaths(folder, outputPaths(stage)), folder);
    const outputs = await measure(ports, stage.id, 'collect', () => withOpenFolders(join(folder, RUN_LAYOUT.outputs), collect));
    return {
      kind: 'completed',
      folder,
      outputs,
      metrics: readMetrics(stage, port => readOutput(outputs[port])),
      log: log.close(),
      parts: helpers.keeper.used,
      durationMs: performance.now() - started,
      device: device.get(),
    };
  } catch (error) {
    return { kind: 'failed', folder, failure: withLog(toFailure(error)) };
  } finally {
    log.close();
  }

  function withLog(failure: Failure): Failure {
    const masked = maskFailure(failure, mask);
    return logged === 'something' ? { ...masked, logPath: relative(plan.projectFolder, logPath) } : masked;
  }
}

function newRunFolder({ cache, ports }: Session): string {
  const folder = cache.newTemporary('run');
  try {
    makeRunFolder(folder);
    return folder;
  } catch (error) {
    const elsewhere = mkdtempSync(join(tmpdir(), 'tanren-run-'));
    makeRunFolder(elsewhere);
    ports.emit({ kind: 'warning', stage: undefined, code: 'cache-write-failed', message: `running in ${elsewhere}: ${String(error)}` });
    return elsewhere;
  }
}

async function run(
  session: Session,
  stage: PlannedStage,
  pinned: PinnedStage,
  folder: string,
  helpers: RunHelpers,
  signal: AbortSignal,
  listener: { write(level: 'info' | 'warning' | 'output', text: string): void; readonly mask: Mask } & Pick<
    RunListener,
    'identify' | 'usage'
  >,
): Promise<Failure | undefined> {
  const { ports } = session;
  const { mask } = listener;
  const { plugin, modulePath } = stage.plugin;
  const paths = linkInputs(folder, pinned.inputs.map(toRunInput));
  const build = plugin.needs === 'build-summary' ? summarizeBuild(session.plan, stage, helpers.endOf) : undefined;
  const action: ActionDocument = {
    format: 1,
    plugin: plugin.name,
    modulePath,
    key: seedOf(pinned.manifest),
    params: stage.params,
    ...paths,
    outputs: outputPaths(stage),
    env: [...stage.env, ...stage.secrets],
    secrets: stage.secrets,
    ...(build === undefined ? {} : { build }),
  };
  const order = {
    folder,
    installRoot: ports.installRoot,
    environment: ports.environment,
    declaredEnv: declaredEnv(stage, ports.environment),
    ...helpers,
    signal,
    mask,
    listener: {
      log(level: 'info' | 'warning' | 'output', said: string) {
        const text = mask.apply(said);
        listener.write(level, text);
        for (const message of text.replace(/\r?\n$/, '').split(/\r?\n/)) ports.emit({ kind: 'log', stage: stage.id, level, message });
        if (level === 'warning') ports.emit({ kind: 'warning', stage: stage.id, code: 'stage-warning', message: text });
      },
      progress(done: number, total: number, what: string) {
        ports.emit({ kind: 'progress', stage: stage.id, done, total, what: mask.apply(what) });
      },
      identify: (identity: JsonObject) => listener.identify(maskObject(identity, mask)),
      usage: listener.usage,
    },
  };
  const guard = helpers.guard?.open(await declaredBy(session, stage, pinned, folder));
  try {
    const failure = await runUnder({ ...order, guard }, stage, action);
    return guard?.judge() ?? failure;
  } finally {
    await guard?.close();
  }
}

async function runUnder(order: RunOrder, { plugin: entry }: PlannedStage, action: ActionDocument): Promise<Failure | undefined> {
  if (isInProcess(entry)) return runInProcess(entry.plugin, action, order);
  const { folder } = order;
  writeActionDocument(folder, action);
  const failure = await runInWorker(order);
  if (failure === undefined || existsSync(join(folder, RUN_LAYOUT.action))) return failure;
  return toFailure(
    new EngineError('run-folder-removed', 'the folder in which the stage ran, under cache/tmp, was removed meanwhile', {
      help: 'build again, and leave cache/ alone while a build runs',
      cause: new Error(failure.message),
    }),
  );
}

function maskObject(identity: JsonObject, mask: Mask): JsonObject {
  return Object.fromEntries(Object.entries(identity).map(([name, value]) => [name, maskJson(value, mask)]));
}

function maskFailure(failure: Failure, mask: Mask): Failure {
  const { message, help, details, causes, stack } = failure;
  return {
    ...failure,
    message: mask.apply(message),
    help: help === undefined ? undefined : mask.apply(help),
    details: maskJson(details, mask),
    causes: causes.map(mask.apply),
    stack: stack === undefined ? undefined : mask.apply(stack),
  };
}

function toRunInput({ port, entry, path, artifact, signature, proof }: PinnedInput) {
  const known = artifact.kind === 'file' && proof === 'settled' ? { stamp: signature, digest: artifact.digest } : undefined;
  return { port, entry, path, kind: artifact.kind, known };
}

function outputPaths(stage: PlannedStage): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.keys(stage.outputPorts).map(port => [port, `${RUN_LAYOUT.outputs}/${artifactName(stage, port)}`]));
}

function declaredEnv(stage: PlannedStage, environment: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...stage.env, ...stage.secrets].flatMap(name => (environment[name] === undefined ? [] : [[name, environment[name] ?? '']])),
  );
}

function timedOut(timeoutMs: number): EngineError {
  return new EngineError('timeout', `the stage ran longer than its timeout of ${timeoutMs / 1000} s, and was killed`, {
    details: { timeoutMs },
    help: "raise the stage's `timeout`, or find out in the log what it waits for",
  });
}

function readOutput(output: CollectedOutput | undefined): MetricsFile | undefined {
  return output === undefined ? undefined : { artifact: output.artifact, read: () => readFileSync(output.path, 'utf8') };
}
