/** `tanren build`: runs the stages that are out of date, and shows progress and results. */
import { build } from '../../../engine/build.js';
import type { FoundGuard } from '../../../engine/execute/guard/find-guard.js';
import { lockFileOf } from '../../../engine/lockfile/lock-path.js';
import { readBuildRequest, requestText } from '../../pipeline/build-request.js';
import { makeEnginePorts } from '../../pipeline/engine-ports.js';
import { openPlan, type PipelineOptions } from '../../pipeline/open-plan.js';
import { findSharedCache } from '../../pipeline/shared-cache.js';
import { setBuildProcessFlags } from '../../process/build-process-flags.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { abortOnSignals } from '../../process/interruption.js';
import { makeBuildRenderer } from '../../render/build-renderer.js';
import { encodeBuildReport, exitCodeOf, type MetricsForm, printBuildReport } from '../../render/build-report.js';
import { unlessRefused } from '../../render/lock-refusal.js';
import { makeConsole } from '../../terminal/console.js';
import { widest } from '../../terminal/display-width.js';
import { endWithError } from '../../terminal/end-with-error.js';
import { runStatus } from './status.js';

export interface BuildCommandOptions extends PipelineOptions {
  readonly jobs?: number;
  readonly keepGoing: boolean;
  readonly dryRun: boolean;
  readonly force: boolean;
  readonly frozen: boolean;
  readonly check: boolean;
  readonly rehash: boolean;
  readonly sandbox: boolean;
  readonly strict: boolean;
  readonly metrics: MetricsForm;
  readonly json: boolean;
}

export async function runBuild(targets: readonly string[], options: BuildCommandOptions): Promise<ExitCode> {
  if (options.dryRun) return runStatus(targets, { ...options, force: options.force });
  setBuildProcessFlags();
  const console = makeConsole({ json: options.json });
  const opened = await openPlan(options, targets, console, 'keep');
  if (opened === undefined) return EXIT.usage;
  const { plan } = opened;
  const found = options.sandbox || options.strict ? await searchGuard(options).catch((error: unknown) => ({ error })) : undefined;
  if (found !== undefined && 'error' in found) return endWithError(found.error, console, options, EXIT.usage);
  if (found?.instead !== undefined) console.problem('warning', `warning[${found.instead.code}]: ${found.instead.message}`);
  const asked = readBuildRequest(process.argv.slice(2), process.cwd());
  const renderer = makeBuildRenderer(console, widest(plan.stages.keys()));
  const ports = makeEnginePorts(renderer.emit, abortOnSignals());
  const building = build(
    plan,
    {
      targets: opened.targets,
      asked: { targets, params: options.param },
      failures: options.keepGoing ? 'keep-going' : 'stop',
      force: options.force ? 'targets' : 'never',
      sharedCache: findSharedCache(options.cache),
      check: options.check ? 'targets' : 'never',
      trust: options.rehash ? 'nothing' : 'stamps',
      guard: found?.guard,
      ...(options.jobs === undefined ? {} : { jobs: options.jobs }),
      ...(opened.stamps === undefined || asked === undefined ? {} : { noOp: { request: requestText(asked), stamps: opened.stamps } }),
      lock: { file: lockFileOf(options.file, process.cwd()), use: options.frozen ? 'frozen' : 'write' },
    },
    ports,
  ).finally(renderer.end);
  const report = await unlessRefused(building, console, options);
  if (report === undefined) return EXIT.usage;
  printBuildReport(plan, report, console, { of: 'all', metrics: options.metrics, warnings: renderer.warnings() });
  if (options.json) console.json(encodeBuildReport(report));
  return exitCodeOf(report);
}

async function searchGuard({ sandbox, strict }: BuildCommandOptions): Promise<FoundGuard> {
  const { findGuard } = await import('../../../engine/execute/guard/find-guard.js');
  return findGuard({ sandbox: sandbox ? 'yes' : 'no', strict: strict ? 'yes' : 'no' }, process.env);
}
