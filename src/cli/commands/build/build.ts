/** `tanren build`: runs the stages that are out of date, and shows progress and results. */
import { existsSync } from 'node:fs';
import { build } from '../../../engine/build.js';
import type { FoundGuard } from '../../../engine/execute/guard/find-guard.js';
import { lockFileOf } from '../../../engine/lockfile/lock-path.js';
import type { Plan } from '../../../engine/model/plan.js';
import type { RemoteUse } from '../../../engine/store/remote/remote-use.js';
import { readBuildRequest, requestText } from '../../pipeline/build-request.js';
import { makeEnginePorts } from '../../pipeline/engine-ports.js';
import { openPlan, type PipelineOptions } from '../../pipeline/open-plan.js';
import type { RemoteOptions } from '../../pipeline/remote/choose-remote.js';
import { settingsPath } from '../../pipeline/remote/settings-path.js';
import { findSharedCache } from '../../pipeline/shared-cache.js';
import { setBuildProcessFlags } from '../../process/build-process-flags.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { abortOnSignals } from '../../process/interruption.js';
import { makeBuildRenderer } from '../../render/build-renderer.js';
import { encodeBuildReport, exitCodeOf, type MetricsForm, printBuildReport } from '../../render/build-report.js';
import { unlessRefused } from '../../render/lock-refusal.js';
import type { Console } from '../../terminal/console.js';
import { makeConsole } from '../../terminal/console.js';
import { widest } from '../../terminal/display-width.js';
import { endWithError } from '../../terminal/end-with-error.js';
import { runStatus } from './status.js';

export interface BuildCommandOptions extends PipelineOptions, RemoteOptions {
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
  const remote = await chooseAndOpen(plan, options, console).catch((error: unknown) => ({ error }));
  if (remote === 'refused') return EXIT.usage;
  if (remote !== undefined && 'error' in remote) return endWithError(remote.error, console, options, EXIT.usage);
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
      remote,
      ...(options.jobs === undefined ? {} : { jobs: options.jobs }),
      ...(opened.stamps === undefined || asked === undefined ? {} : { noOp: { request: requestText(asked), stamps: opened.stamps } }),
      lock: { file: lockFileOf(options.file, process.cwd()), use: options.frozen ? 'frozen' : 'write' },
    },
    ports,
  ).finally(() => {
    renderer.end();
    remote?.cache.close();
  });
  const report = await unlessRefused(building, console, options);
  if (report === undefined) return EXIT.usage;
  printBuildReport(plan, report, console, { of: 'all', metrics: options.metrics, warnings: renderer.warnings() });
  if (options.json) console.json(encodeBuildReport(report));
  return exitCodeOf(report);
}

/** @throws CodedError of the address and of the settings. */
async function chooseAndOpen(plan: Plan, options: RemoteOptions, console: Console): Promise<RemoteUse | undefined | 'refused'> {
  if (!namesRemote(options, plan)) return undefined;
  const { findRemote, openRemote, untrustedWarning } = await import('../../pipeline/remote/open-remote.js');
  const found = findRemote(options, plan.remoteCache, console);
  if (found.kind === 'refused') return 'refused';
  if (found.kind === 'untrusted') {
    const { code, message } = untrustedWarning(found.address, found.settings?.path ?? '');
    console.problem('warning', `warning[${code}]: ${message}`);
  }
  return found.kind === 'chosen' && found.settings !== undefined ? openRemote(found.choice, options, found.settings) : undefined;
}

/** Whether anything can name a remote cache. Without it, no module of remote caches is loaded. */
function namesRemote({ remote, remoteCache, remoteOnly, requireRemote }: RemoteOptions, { remoteCache: named }: Plan): boolean {
  if (remoteOnly || requireRemote) return true;
  const asked = remoteCache !== undefined || named !== undefined;
  return remote && (asked || (process.env.TANREN_REMOTE_CACHE ?? '') !== '' || existsSync(settingsPath(process.env)));
}

async function searchGuard({ sandbox, strict }: BuildCommandOptions): Promise<FoundGuard> {
  const { findGuard } = await import('../../../engine/execute/guard/find-guard.js');
  return findGuard({ sandbox: sandbox ? 'yes' : 'no', strict: strict ? 'yes' : 'no' }, process.env);
}
