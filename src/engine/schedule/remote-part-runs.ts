/** The remote workers of a stage that runs here and spreads its parts. */
import { setMaxListeners } from 'node:events';
import type { PinnedStage } from '../action/pinned-stage.js';
import type { RemotePart } from '../execute/parts/caching-part-store.js';
import type { RemoteRunEnd } from '../execute/remote/remote-run.js';
import { placeToRun, spreadsParts } from '../execute/remote/where-to-run.js';
import type { PartQuestion } from '../execute/worker/messages.js';
import { EngineError } from '../model/engine-error.js';
import { remoteUnits } from './cpu-units.js';
import type { StageNeeds } from './stage-needs.js';

export interface RemotePartRuns {
  readonly atOnce: number;
  compute(question: PartQuestion): Promise<RemotePart | undefined>;
  /** Ends the actions when the signal is aborted. */
  stopWith(signal: AbortSignal): void;
  close(): Promise<void>;
}

/** Enough parts for the actions that run, and for those that follow them. */
const PARTS_PER_ACTION = 256;
const MOST_AT_ONCE = 20_000;

/** @returns undefined if the parts of the stage are computed here. */
export function openRemoteParts({ session, stage, services, forced, parts }: StageNeeds, pinned: PinnedStage): RemotePartRuns | undefined {
  const runs = services.remote;
  const place = placeToRun(stage, runs?.asked, runs === undefined ? 'none' : 'named');
  if (place.kind === 'here' || runs === undefined || !spreadsParts(stage) || (place.need === 'preferred' && runs.isLeftOut()))
    return undefined;
  const jobs = remoteUnits(session.plan, runs.jobs);
  const stop = new AbortController();
  // Every action of the stage listens to it.
  setMaxListeners(0, stop.signal);
  let hasWarned = false;
  const warnOnce = (message: string): void => {
    if (!hasWarned) session.ports.emit({ kind: 'warning', stage: stage.id, code: 'remote-execution-failed', message });
    hasWarned = true;
  };
  let failed: Extract<RemoteRunEnd, { kind: 'impossible' }> | undefined;
  let isNoted = false;
  const open = async () => {
    const { makeRemoteJob } = await import('../execute/remote/remote-job.js');
    const { moduleThere, runPartsRemotely } = await import('../execute/remote/remote-run.js');
    const { createRemoteParts } = await import('../execute/remote/remote-parts.js');
    const job = makeRemoteJob(session, stage, pinned, {
      runs,
      lookup: forced ? 'skip' : 'use',
      brings: undefined,
      onRunning: () => undefined,
    });
    if (job === undefined) return undefined;
    return createRemoteParts({
      jobs,
      moduleOf: moduleThere(job, session.ports.installRoot),
      onFailed: why => warnOnce(`a part failed on a remote worker and is computed here: ${why}`),
      onDamaged: why => {
        failed ??= impossible(why);
      },
      async run(entries, runsModels) {
        // The key of a part has the class also where the stage itself runs no model.
        const own = runsModels === 'always' ? { ...job, platformClass: await parts.platformClass() } : job;
        const run = await runPartsRemotely(own, entries, session, stop.signal).catch((error: unknown) => {
          if (stop.signal.aborted) return undefined;
          throw error;
        });
        if (run === undefined || (run.end.kind === 'ended' && run.end.failure === undefined)) return run?.outputs;
        failed ??= run.end.kind === 'impossible' ? run.end : impossible(run.end.failure?.message ?? '');
        return undefined;
      },
    });
  };
  let opened: ReturnType<typeof open> | undefined;
  return {
    atOnce: Math.min(MOST_AT_ONCE, jobs * PARTS_PER_ACTION),
    async compute(question) {
      opened ??= open();
      const made = await (await opened)?.compute(question);
      if (made !== undefined || failed === undefined || stop.signal.aborted) return made;
      if (place.need === 'preferred') {
        // Every further part of the stage is computed here for the same reason.
        if (!isNoted) runs.noteFallback(stage.id, failed);
        isNoted = true;
      } else {
        const { code, message, help } = runs.failureOf(failed);
        throw new EngineError(code, message, help === undefined ? {} : { help });
      }
      return undefined;
    },
    stopWith: signal => signal.addEventListener('abort', () => stop.abort(signal.reason), { once: true }),
    close: async () => {
      stop.abort(new Error('the stage has ended'));
      // What opening them throws has failed the stage already.
      const parts = await opened?.catch(() => undefined);
      await parts?.end();
    },
  };
}

/** The end of an action whose parts ended without usable results. */
function impossible(why: string): Extract<RemoteRunEnd, { kind: 'impossible' }> {
  return { kind: 'impossible', code: 'remote-execution', why, server: 'usable' };
}
