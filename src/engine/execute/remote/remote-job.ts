/** What a stage's run needs to be remote, from its pinned action. */
import { join } from 'node:path';
import { getDefined, InternalError } from '../../../base/invariant.js';
import { findBundle } from '../../action/code/code-table.js';
import { isUnpublished, type PinnedInput, type PinnedStage } from '../../action/pinned-stage.js';
import type { Session } from '../../action/session.js';
import type { PlannedStage } from '../../model/plan.js';
import { isInProcess } from '../../model/plugin-entry.js';
import { decodeTree, type TreeEntry } from '../../store/files/tree.js';
import type { InputContent, ProgramOfPlugin, RemoteJob } from './remote-run.js';
import type { RemoteRuns } from './remote-runs.js';

/** @returns undefined if the plugin's code cannot travel: it imports installed packages, or there is no runtime. */
export function makeRemoteJob(
  session: Session,
  stage: PlannedStage,
  pinned: PinnedStage,
  { runs, lookup, brings, onRunning }: Pick<RemoteJob, 'lookup' | 'brings' | 'onRunning'> & { readonly runs: RemoteRuns },
): RemoteJob | undefined {
  const { runtime } = session.ports;
  const program = programOf(session, stage, pinned);
  if (runtime === undefined || program === undefined) return undefined;
  const byPath = new Map(pinned.inputs.map(input => [input.path, input]));
  const { platformClass } = pinned.manifest;
  return {
    executor: runs.executor,
    runtime,
    runtimeDigests: runs.runtimeDigests,
    platformClass: typeof platformClass === 'string' ? platformClass : undefined,
    program,
    tools: Object.fromEntries(pinned.tools.map(({ name, source }) => [name, source.artifact.digest])),
    contentOf: async ({ to }) => contentOf(session, getDefined(byPath.get(to), to)),
    brings,
    timeoutMs: stage.timeoutMs,
    properties: stage.properties ?? {},
    lookup: stage.determinism === 'measured' || runs.lookup === 'skip' ? 'skip' : lookup,
    salt: runs.salt,
    onRunning,
  };
}

function programOf({ ports }: Session, { plugin }: PlannedStage, { code }: PinnedStage): ProgramOfPlugin | undefined {
  if (isInProcess(plugin)) return { kind: 'in-process', plugin: plugin.plugin.name };
  const main = findBundle(ports.installRoot, code);
  if (main !== undefined) return { kind: 'worker', plugin: workerName(main), main };
  if (code.modules === undefined || code.modules.packages.length > 0 || code.modules.imports === 'computed') return undefined;
  return { kind: 'module', path: code.root.modulePath, files: code.modules.paths };
}

/** "evaluate" of "…/workers/evaluate.cjs". */
function workerName(main: string): string {
  return /([\w-]+)\.cjs$/.exec(main)?.[1] ?? '';
}

async function contentOf({ store, plan, remote }: Session, input: PinnedInput): Promise<InputContent> {
  const { artifact, tree, path } = input;
  const at = isUnpublished(input) ? 'server' : 'here';
  if (artifact.kind === 'file')
    return { kind: 'file', blob: { hash: artifact.digest, sizeBytes: artifact.sizeBytes }, executable: artifact.executable, at };
  const document = remote?.leftTree(artifact.digest) ?? (await store.read(artifact.digest))?.toString() ?? '';
  const entries: readonly TreeEntry[] | undefined = tree ?? decodeTree(document);
  if (entries === undefined) throw new InternalError(`the tree of ${join(plan.projectFolder, path)} is not in the cache`);
  return { kind: 'tree', entries, at };
}
