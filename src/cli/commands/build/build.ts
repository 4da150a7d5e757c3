/** `tanren build`: runs the stages that are out of date, and shows progress and results. */
import { build } from '../../../engine/build.js';
import type { CleanOptions } from '../../../engine/check-from-clean.js';
import type { FoundGuard } from '../../../engine/execute/guard/find-guard.js';
import type { Guard } from '../../../engine/execute/guard/guard.js';
import { lockFileOf } from '../../../engine/lockfile/lock-path.js';
import type { Plan } from '../../../engine/model/plan.js';
import type { EnginePorts } from '../../../engine/model/ports.js';
import type { BuildReport } from '../../../engine/model/report.js';
import type { RemoteUse } from '../../../engine/store/remote/remote-use.js';
import { readBuildRequest, requestText } from '../../pipeline/build-request.js';
import { makeEnginePorts } from '../../pipeline/engine-ports.js';
import { openPlan, type PipelineOptions } from '../../pipeline/open-plan.js';
import type { RemoteOptions } from '../../pipeline/remote/choose-remote.js';
import { openForBuild } from '../../pipeline/remote/open-for-build.js';
import type { ReportOrder } from '../../pipeline/report-orders.js';
import { findSharedCache } from '../../pipeline/shared-cache.js';
import { setBuildProcessFlags } from '../../process/build-process-flags.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { abortOnSignals } from '../../process/interruption.js';
import { makeBuildRenderer } from '../../render/build-renderer.js';
import { encodeBuildReport, exitCodeOf, type MetricsForm, printBuildReport } from '../../render/build-report.js';
import { unlessRefused } from '../../render/lock-refusal.js';
import { type Console, makeConsole } from '../../terminal/console.js';
import { nameColumns } from '../../terminal/display-width.js';
import { endWithError } from '../../terminal/end-with-error.js';
import { type BuildObserver, diagnosticOf, NO_OBSERVER } from './build-observer.js';
import { runStatus } from './status.js';

export interface BuildCommandOptions extends PipelineOptions, RemoteOptions {
  readonly jobs?: number;
  readonly keepGoing: boolean;
  readonly dryRun: boolean;
  readonly force: boolean;
  readonly frozen: boolean;
  readonly check: boolean;
  readonly fromClean: boolean;
  readonly rehash: boolean;
  readonly sandbox: boolean;
  readonly strict: boolean;
  readonly metrics: MetricsForm;
  readonly json: boolean;
  readonly report: readonly (readonly ReportOrder[])[];
  readonly base?: string;
}

export async function runBuild(targets: readonly string[], options: BuildCommandOptions): Promise<ExitCode> {
  if (options.dryRun) return runStatus(targets, { ...options, force: options.force });
  setBuildProcessFlags();
  const console = makeConsole({ json: options.json });
  if (options.report.length === 0) return buildTargets(targets, options, console, NO_OBSERVER);
  const { buildWithReports } = await import('./build-with-reports.js');
  return buildWithReports(options, console, observer => buildTargets(targets, options, console, observer));
}

async function buildTargets(
  targets: readonly string[],
  options: BuildCommandOptions,
  console: Console,
  observer: BuildObserver,
): Promise<ExitCode> {
  if (options.fromClean && !options.check) {
    console.problem('error', 'error[invalid-argument]: --from-clean is a form of --check\n  help: write --check --from-clean');
    return EXIT.usage;
  }
  const opened = await openPlan(options, targets, console, 'keep', observer.refused);
  if (opened === undefined) return EXIT.usage;
  const { plan } = opened;
  const end = (error: unknown): ExitCode => {
    observer.refused([diagnosticOf(error)]);
    return endWithError(error, console, options, EXIT.usage);
  };
  const prepared = await prepare(plan, options, console, observer).catch((error: unknown) => ({ error }));
  if (prepared === 'refused') return EXIT.usage;
  if ('error' in prepared) return end(prepared.error);
  const { guard, remote } = prepared;
  const asked = readBuildRequest(process.argv.slice(2), process.cwd());
  const renderer = makeBuildRenderer(console, nameColumns(plan.stages.keys(), console.width()));
  const signal = abortOnSignals();
  const ports = makeEnginePorts(event => {
    renderer.emit(event);
    if (event.kind === 'warning') observer.warned(event);
  }, signal);
  const clean = { targets: opened.targets, failures: 'keep-going', sharedCache: findSharedCache(options.cache), guard, remote } as const;
  const building = build(
    plan,
    {
      targets: opened.targets,
      asked: { targets, params: options.param },
      failures: options.keepGoing ? 'keep-going' : 'stop',
      force: options.force ? 'targets' : 'never',
      sharedCache: findSharedCache(options.cache),
      check: options.check && !options.fromClean ? 'targets' : 'never',
      trust: options.rehash ? 'nothing' : 'stamps',
      guard,
      remote: options.fromClean ? readOnly(remote) : remote,
      ...(options.jobs === undefined ? {} : { jobs: options.jobs }),
      ...(opened.stamps === undefined || asked === undefined ? {} : { noOp: { request: requestText(asked), stamps: opened.stamps } }),
      lock: { file: lockFileOf(options.file, process.cwd()), use: options.frozen ? 'frozen' : 'write' },
    },
    ports,
  )
    .then(report => (options.fromClean ? checkClean(plan, clean, report, ports) : report))
    .finally(() => {
      renderer.end();
      remote?.cache.close();
    });
  const report = await unlessRefused(building, console, options, observer.refused);
  if (report === undefined) return EXIT.usage;
  printBuildReport(plan, report, console, { of: 'all', metrics: options.metrics, warnings: renderer.warnings() });
  if (options.json) console.json(encodeBuildReport(report));
  observer.ended(plan, report);
  // Everything is built, but some results were not uploaded.
  const stopped = signal.aborted && (report.remote?.dropped.length ?? 0) > 0;
  return stopped ? EXIT.interrupted : exitCodeOf(report);
}

interface Prepared {
  readonly guard: Guard | undefined;
  readonly remote: RemoteUse | undefined;
}

/** Everything that must be there before the build. @throws CodedError. */
async function prepare(plan: Plan, options: BuildCommandOptions, console: Console, observer: BuildObserver): Promise<Prepared | 'refused'> {
  await observer.planned(plan);
  const found = options.sandbox || options.strict ? await searchGuard(options) : undefined;
  if (found?.instead !== undefined) console.problem('warning', `warning[${found.instead.code}]: ${found.instead.message}`);
  const remote = await openForBuild(plan, options, console);
  return remote === 'refused' ? remote : { guard: found?.guard, remote };
}

/** Results go up when all builds gave them. */
function readOnly(remote: RemoteUse | undefined): RemoteUse | undefined {
  return remote === undefined ? undefined : { ...remote, write: false };
}

async function checkClean(plan: Plan, options: CleanOptions, report: BuildReport, ports: EnginePorts): Promise<BuildReport> {
  if (report.conclusion === 'failed' || report.conclusion === 'cancelled') return report;
  const { checkFromClean, sendChecked, withChecks } = await import('../../../engine/check-from-clean.js');
  const checked = withChecks(report, await checkFromClean(plan, options, ports));
  const sent = await sendChecked(plan, options, checked, ports);
  return sent === undefined ? checked : { ...checked, remote: sent };
}

async function searchGuard({ sandbox, strict }: BuildCommandOptions): Promise<FoundGuard> {
  const { findGuard } = await import('../../../engine/execute/guard/find-guard.js');
  return findGuard({ sandbox: sandbox ? 'yes' : 'no', strict: strict ? 'yes' : 'no' }, process.env);
}
