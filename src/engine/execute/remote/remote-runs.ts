/** The remote runs of a build: its server, and what follows when a worker or the server cannot run a stage. */

import { EngineError } from '../../model/engine-error.js';
import { type Failure, toFailure } from '../../model/failure.js';
import type { Executor, StageId } from '../../model/plan.js';
import type { CacheFolder } from '../../store/cache-folder.js';
import type { RemoteUse } from '../../store/remote/remote-use.js';
import { createRemoteExecutor, type RemoteExecutor } from './remote-executor.js';
import type { RemoteRunEnd } from './remote-run.js';
import { openRuntimeDigests, type RuntimeDigests } from './runtime-tree.js';

export interface RemoteRuns {
  readonly asked: Executor | undefined;
  readonly executor: RemoteExecutor;
  readonly runtimeDigests: RuntimeDigests;
  readonly salt: string;
  readonly jobs: number | undefined;
  /** Results that the server has of an execution count only if nothing asks for signatures, which it cannot have. */
  readonly lookup: 'use' | 'skip';
  /** Whether the server is left out after trouble. */
  isLeftOut(): boolean;
  /** Reports that a stage runs here instead: one line per build for each code. */
  noteFallback(stage: StageId, end: Extract<RemoteRunEnd, { kind: 'impossible' }>): void;
  /** The failure of a stage that must run remotely. */
  failureOf(end: Extract<RemoteRunEnd, { kind: 'impossible' }>): Failure;
}

/** After so much trouble the server is left out. */
const MOST_FAILURES = 3;

/** @returns undefined if the transport has no calls for execution. */
export function openRemoteRuns(
  use: RemoteUse,
  cache: CacheFolder,
  warn: (stage: StageId | undefined, message: string) => void,
): RemoteRuns | undefined {
  const { execution } = use.cache;
  if (execution === undefined) return undefined;
  let failures = 0;
  const warned = new Set<string>();
  return {
    asked: use.executor,
    executor: createRemoteExecutor(use.cache, execution),
    runtimeDigests: openRuntimeDigests(cache),
    salt: use.salt,
    jobs: use.remoteJobs,
    lookup: use.signatures?.trusted === undefined ? 'use' : 'skip',
    isLeftOut: () => failures >= MOST_FAILURES,
    noteFallback(stage, { why, code, server }) {
      if (server === 'unusable') failures = MOST_FAILURES;
      else failures++;
      const what = use.mask(why);
      const line =
        server === 'unusable'
          ? `the server ${use.address} runs no actions: ${what}; stages run here`
          : `a worker of ${use.address} cannot run it: ${what}; it runs here`;
      // What differs between stages, such as a digest, is in the log of the stage.
      if (warned.has(code)) return;
      warned.add(code);
      warn(server === 'unusable' ? undefined : stage, line);
    },
    failureOf: ({ code, why }) =>
      toFailure(
        new EngineError(code, `the remote workers of ${use.address} did not run it: ${use.mask(why)}`, {
          help: HELP[code] ?? HELP['remote-execution'] ?? '',
        }),
      ),
  };
}

const HELP: Readonly<Record<string, string>> = {
  'remote-execution': 'check the server with "tanren cache remote ping", or build with --executor auto or local',
  'remote-class':
    'use workers with the same processor features and ONNX Runtime, select them with `properties`, or build with --executor auto',
  'remote-system': 'build from the system of the workers, for example in their container image, or build with --executor auto',
  'remote-tool': 'install the same program on the workers, or build with --executor local',
  'remote-disk': 'free space on the workers, or build with --executor auto or local',
  'remote-runtime': 'look at the log of the stage; the worker needs the C library of this machine or a later one',
};

/** The failure of a stage that must run remotely in a build without a server. */
export function noServer(): Failure {
  return toFailure(
    new EngineError('remote-execution', 'its executor is `remote`, but the build has no server with workers', {
      help: 'name one with --remote-cache or TANREN_REMOTE_CACHE (grpcs://host/instance), or build with --executor local',
    }),
  );
}

/** The failure of a stage that must run on a worker, and whose inputs or code cannot go there. */
export function cannotLeave(reason: string): Failure {
  return toFailure(
    new EngineError('remote-execution', `it must run on a remote worker, but ${reason}, so it cannot leave this machine`, {
      help: 'remove that from the stage, or run it here: without `properties`, or with `executor: local`',
    }),
  );
}
