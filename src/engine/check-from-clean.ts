/**
 * The check of reproducibility across clean builds: the same stages are built again in other folders, with other numbers of jobs, without a cache,
 * from the local cache of such a build, and from the remote cache. All must give the digests of the results in place.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { movePlan } from './action/move-plan.js';
import { openSession, placeOf, type Session } from './action/session.js';
import { type BuildOptions, build } from './build.js';
import { collectOutputs } from './execute/collect.js';
import { mayShare } from './execute/may-share.js';
import type { AcceptedStage } from './model/accepted-stage.js';
import type { CheckResult } from './model/check-result.js';
import { dependenciesOf, selectStages } from './model/dependencies.js';
import { toFailure } from './model/failure.js';
import type { Plan, PlannedStage, StageId } from './model/plan.js';
import type { EnginePorts } from './model/ports.js';
import type { BuildReport, StageReport } from './model/report.js';
import { pushResults } from './move-results.js';
import { firstResultOf } from './schedule/check-stage.js';
import { findDifferences } from './schedule/differences.js';
import { cacheFolderAt } from './store/cache-folder.js';

export type CleanOptions = Pick<BuildOptions, 'targets' | 'cacheFolder' | 'sharedCache' | 'guard' | 'remote' | 'failures'>;

/** One further build of the same stages. */
interface FurtherBuild {
  /** Shown beside the stages that differ. */
  readonly name: string;
  readonly plan: Plan;
  readonly options: BuildOptions;
  /** 'restored': a stage that runs here had no result there, and is not compared. */
  readonly counts: 'all' | 'restored';
}

/**
 * Compares the accepted results of the targets and of what they depend on with those of the further builds. Nothing of these stays.
 * A stage is compared only with a result of the same action: after a stage that measures or differs, the actions are others.
 */
export async function checkFromClean(plan: Plan, options: CleanOptions, ports: EnginePorts): Promise<readonly CheckResult[]> {
  const cache = cacheFolderAt(options.cacheFolder ?? join(plan.projectFolder, 'cache'), options.sharedCache);
  const session = openSession(plan, ports, cache, 'read');
  const selected = selectStages(plan, options.targets);
  const root = await mkdtemp(join(tmpdir(), 'tanren-clean-'));
  const verdicts = new Map<StageId, CheckResult>(
    selected.flatMap(({ id, determinism }) => (determinism === 'measured' ? [[id, { verdict: 'measured', stage: id }]] : [])),
  );
  try {
    for (const further of await furtherBuilds(plan, selected, options, root)) {
      if (ports.signal.aborted) break;
      ports.emit({ kind: 'clean-build', name: further.name });
      await compareWith(session, selected, further, verdicts, ports);
    }
  } finally {
    await rm(root, { recursive: true, force: true });
  }
  const aborted = ports.signal.aborted ? 'cancelled' : 'same';
  const results = selected.map(({ id }): CheckResult => verdicts.get(id) ?? { verdict: aborted, stage: id });
  for (const result of results) ports.emit({ kind: 'check', result });
  return results;
}

async function furtherBuilds(
  plan: Plan,
  selected: readonly PlannedStage[],
  { guard, remote }: CleanOptions,
  root: string,
): Promise<readonly FurtherBuild[]> {
  const folderOf = async (...names: readonly string[]): Promise<Plan> => {
    const folder = join(root, ...names);
    await mkdir(folder, { recursive: true });
    return movePlan(plan, selected, folder);
  };
  const one = await folderOf('a');
  const many = await folderOf('another, much longer folder with spaces', 'and one more', 'project');
  const jobs = Math.max(2, availableParallelism());
  const common = { targets: 'all', failures: 'keep-going', force: 'never', guard } as const;
  const builds: FurtherBuild[] = [
    { name: 'a clean build in another folder with 1 job', plan: one, options: { ...common, jobs: 1 }, counts: 'all' },
    { name: `a clean build in a longer path with ${jobs} jobs`, plan: many, options: { ...common, jobs }, counts: 'all' },
    { name: 'a build from the cache of the first clean one', plan: one, options: { ...common, jobs: 1 }, counts: 'restored' },
  ];
  if (remote?.read !== true) return builds;
  const far = await folderOf('remote');
  const use = { ...remote, write: false, local: 'ignored', need: 'optional' } as const;
  return [...builds, { name: `a build from ${remote.address}`, plan: far, options: { ...common, remote: use }, counts: 'restored' }];
}

async function compareWith(
  session: Session,
  selected: readonly PlannedStage[],
  { name, plan, options, counts }: FurtherBuild,
  verdicts: Map<StageId, CheckResult>,
  ports: EnginePorts,
): Promise<void> {
  // What is in place would count as up to date, and nothing would be restored.
  await rm(join(plan.projectFolder, 'artifacts'), { recursive: true, force: true });
  const quiet: EnginePorts = { ...ports, artifacts: 'copies', emit: event => (isShown(event.kind) ? ports.emit(event) : undefined) };
  const report = await build(plan, options, quiet);
  if (ports.signal.aborted) return;
  const there = openSession(plan, quiet, cacheFolderAt(join(plan.projectFolder, 'cache'), undefined), 'read');
  for (const stage of selected) {
    const moved = plan.stages.get(stage.id);
    const ended = report.stages.get(stage.id);
    if (moved === undefined || ended === undefined || verdicts.has(stage.id)) continue;
    if (counts === 'restored' && (ended.outcome.kind !== 'restored' || !mayShare(stage))) continue;
    const verdict = await compareStage(session, there, moved, ended, verdicts);
    if (verdict !== undefined) verdicts.set(stage.id, { ...verdict, build: name });
  }
}

function isShown(kind: Parameters<EnginePorts['emit']>[0]['kind']): boolean {
  return kind !== 'outlook' && kind !== 'gate' && kind !== 'span' && kind !== 'warning';
}

/** @returns undefined if the outputs are the same. */
async function compareStage(
  here: Session,
  there: Session,
  stage: PlannedStage,
  { outcome }: StageReport,
  verdicts: ReadonlyMap<StageId, CheckResult>,
): Promise<Exclude<CheckResult, { readonly verdict: 'same' | 'measured' | 'cancelled' }> | undefined> {
  const { id } = stage;
  const because = dependenciesOf(stage).find(before => verdicts.has(before));
  const [mine, other] = [here.state.stages.get(id), there.state.stages.get(id)];
  if (mine?.key !== undefined && mine.key !== other?.key && because !== undefined) return { verdict: 'not-compared', stage: id, because };
  if (outcome.kind === 'failed') return { verdict: 'failed', stage: id, failure: outcome.failure };
  if (mine === undefined || other === undefined) return { verdict: 'not-compared', stage: id, because: because ?? id };
  try {
    const differences = await findDifferences(
      firstResultOf(here, stage, mine),
      await collect(there, stage, other),
      placeOf(here.plan, stage).names,
    );
    return differences.length === 0 ? undefined : { verdict: 'different', stage: id, differences };
  } catch (error) {
    return { verdict: 'failed', stage: id, failure: toFailure(error) };
  }
}

/** The outputs as they are under artifacts/, digested again. */
function collect({ plan }: Session, stage: PlannedStage, { outputs }: AcceptedStage): ReturnType<typeof collectOutputs> {
  const { folder, names } = placeOf(plan, stage);
  const paths = Object.fromEntries(Object.keys(outputs).map(port => [port, join(folder, names[port] ?? port)]));
  const outputPorts = Object.fromEntries(Object.entries(stage.outputPorts).filter(([port]) => port in outputs));
  return collectOutputs({ id: stage.id, outputPorts }, paths, folder);
}

/** Sends the results to a remote cache that takes them, if every check found equal bytes. @returns what was sent. */
export async function sendChecked(
  plan: Plan,
  { targets, remote, cacheFolder, sharedCache }: CleanOptions,
  { conclusion }: BuildReport,
  ports: EnginePorts,
): Promise<BuildReport['remote']> {
  if (remote?.write !== true || conclusion === 'not-reproduced' || conclusion === 'cancelled') return undefined;
  const cache = cacheFolderAt(cacheFolder ?? join(plan.projectFolder, 'cache'), sharedCache);
  return (await pushResults({ plan, targets, cache, use: remote }, ports)).remote;
}

/** The report with the results of checks. A check outweighs a missed gate, and nothing else. */
export function withChecks(report: BuildReport, checks: readonly CheckResult[]): BuildReport {
  const wrong = checks.some(({ verdict }) => verdict === 'different' || verdict === 'failed');
  const cancelled = checks.some(({ verdict }) => verdict === 'cancelled');
  const kept = report.conclusion === 'failed' || report.conclusion === 'cancelled';
  return {
    ...report,
    checks,
    conclusion: kept ? report.conclusion : cancelled ? 'cancelled' : wrong ? 'not-reproduced' : report.conclusion,
  };
}
