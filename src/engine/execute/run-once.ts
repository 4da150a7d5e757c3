/** One attempt to run an action in its own run folder: its digested outputs, or its failure. */
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { after } from '../../base/after.js';
import type { JsonObject } from '../../base/json.js';
import { type Mask, makeMask, maskJson } from '../../stage/mask.js';
import type { PinnedStage } from '../action/pinned-stage.js';
import type { Session } from '../action/session.js';
import { EngineError } from '../model/engine-error.js';
import type { Failure } from '../model/failure.js';
import { toFailure } from '../model/failure.js';
import type { PlannedStage } from '../model/plan.js';
import { withOpenFolders } from '../store/files/open-folders.js';
import type { CollectedOutput } from './collect.js';
import { collectOutputs } from './collect.js';
import { collectLeft } from './left-outputs.js';
import { measure } from './measure.js';
import { makeRunFolder } from './run/run-folder.js';
import { outputPaths, type RunHelpers, runAction } from './run-action.js';
import { openRunLog } from './run-log.js';
import { type MetricsFile, readMetrics } from './stage-metrics.js';
import { watchDevice } from './watch-device.js';
import { absolutePaths, RUN_LAYOUT } from './worker/action-document.js';
import { clockOf } from './written-inputs.js';

export interface CompletedRun {
  readonly kind: 'completed';
  readonly folder: string;
  /** The time at which it began to read published artifacts, by the clock of the file system; undefined if it read private copies. */
  readonly sharedMs: number | undefined;
  readonly outputs: Readonly<Record<string, CollectedOutput>>;
  readonly metrics: JsonObject | undefined;
  readonly log: Buffer | undefined;
  /** Keys of the cached parts that it used. */
  readonly parts: ReadonlySet<string>;
  readonly durationMs: number;
  /** The identity of the device on which the stage measured. */
  readonly device: JsonObject | undefined;
  /** 'server': the outputs stayed on the server, and only metrics are at their paths. */
  readonly content: 'here' | 'server';
}

export type RunEnd = CompletedRun | FailedRun | InputsLeft;

/** It needs inputs here that stayed on a server. `next`: where it runs then. */
export interface InputsLeft {
  readonly kind: 'inputs-left';
  readonly folder: string;
  readonly sharedMs: undefined;
  readonly next: 'as-planned' | 'here';
}

export interface FailedRun {
  readonly kind: 'failed';
  readonly folder: string;
  readonly sharedMs: number | undefined;
  readonly failure: Failure;
}

export async function runOnce(session: Session, stage: PlannedStage, pinned: PinnedStage, helpers: RunHelpers): Promise<RunEnd> {
  const { ports, plan } = session;
  const { logPath } = helpers;
  const started = performance.now();
  const folder = newRunFolder(session);
  const sharedMs = helpers.artifacts === 'links' ? clockOf(folder) : undefined;
  const log = openRunLog(logPath, message => ports.emit({ kind: 'warning', stage: stage.id, code: 'cache-write-failed', message }));
  let peakBytes: number | undefined;
  let logged = 'nothing' as 'nothing' | 'something';
  const timeout = new AbortController();
  let stopTimer: (() => void) | undefined;
  const begin = (): void => {
    if (stage.timeoutMs !== undefined) stopTimer ??= after(stage.timeoutMs, () => timeout.abort());
  };
  const pause = (): void => {
    stopTimer?.();
    stopTimer = undefined;
  };
  const signal = AbortSignal.any([ports.signal, timeout.signal]);
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
    const sinks = { write, identify: device.identify, usage, mask, begin, pause };
    const act = () => runAction(session, stage, pinned, { folder, helpers, signal, sinks });
    const end = await measure(ports, stage.id, 'run', act, () => ({ peakBytes }));
    if (timeout.signal.aborted && !ports.signal.aborted) throw timedOut(stage.timeoutMs ?? 0);
    if (end.kind === 'inputs-left') return { kind: 'inputs-left', folder, sharedMs: undefined, next: end.next };
    if (end.kind === 'failed') return { kind: 'failed', folder, sharedMs, failure: withLog(end.failure) };
    const { left } = end;
    const collect = async () =>
      left === undefined
        ? collectOutputs(stage, absolutePaths(folder, outputPaths(stage)), folder)
        : collectLeft(stage, outputPaths(stage), left, folder);
    const outputs = await measure(ports, stage.id, 'collect', () => withOpenFolders(join(folder, RUN_LAYOUT.outputs), collect));
    return {
      kind: 'completed',
      folder,
      sharedMs,
      outputs,
      metrics: await readMetrics(stage, port => readOutput(outputs[port])),
      log: log.close(),
      parts: helpers.partStore.used,
      durationMs: performance.now() - started,
      device: device.get(),
      content: left === undefined ? 'here' : 'server',
    };
  } catch (error) {
    return { kind: 'failed', folder, sharedMs, failure: withLog(toFailure(error)) };
  } finally {
    stopTimer?.();
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

function timedOut(timeoutMs: number): EngineError {
  return new EngineError('timeout', `the stage ran longer than its timeout of ${timeoutMs / 1000} s, and was killed`, {
    details: { timeoutMs },
    help: "raise the stage's `timeout`, or find out in the log what it waits for",
  });
}

function readOutput(output: CollectedOutput | undefined): MetricsFile | undefined {
  return output === undefined ? undefined : { artifact: output.artifact, read: async () => readFileSync(output.path, 'utf8') };
}
