/** A build whose end is written as reports for CI systems. */
import { compareSnapshots } from '../../../engine/insight/history/compare-snapshots.js';
import type { Snapshot } from '../../../engine/insight/history/snapshot.js';
import type { Plan } from '../../../engine/model/plan.js';
import type { BuildReport } from '../../../engine/model/report.js';
import { cachesOf } from '../../pipeline/open-cache.js';
import { openHistory } from '../../pipeline/open-history.js';
import type { PipelineOptions } from '../../pipeline/open-plan.js';
import type { ReportOrder } from '../../pipeline/report-orders.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import type { BuildWarning, EndedCommand } from '../../render/ci/ended-command.js';
import { openReports, type Reports } from '../../render/ci/report-files.js';
import type { Console } from '../../terminal/console.js';
import { endWithError } from '../../terminal/end-with-error.js';
import { currentSnapshot, findSnapshot, type SnapshotContext, unknownRevision } from '../history/snapshots.js';
import { type BuildObserver, diagnosticOf } from './build-observer.js';

interface ReportedBuild extends PipelineOptions {
  readonly report: readonly (readonly ReportOrder[])[];
  readonly base?: string;
  readonly json: boolean;
}

/** Runs `work` and writes the reports, whether or not it built anything. */
export async function buildWithReports(
  options: ReportedBuild,
  console: Console,
  work: (observer: BuildObserver) => Promise<ExitCode>,
): Promise<ExitCode> {
  let reports: Reports;
  try {
    reports = openReports(options.report.flat(), process.env, console);
  } catch (error) {
    return endWithError(error, console, options, EXIT.usage);
  }
  const { observer, ended } = observe(options, console);
  let exitCode: ExitCode = EXIT.internal;
  try {
    exitCode = await work(observer);
  } catch (error) {
    observer.refused([diagnosticOf(error)]);
    throw error;
  } finally {
    exitCode = await reports.write(ended()).then(
      () => exitCode,
      (error: unknown) => endWithError(error, console, { json: false }, exitCode),
    );
  }
  return exitCode;
}

function observe(options: ReportedBuild, console: Console): { readonly observer: BuildObserver; readonly ended: () => EndedCommand } {
  const warnings: BuildWarning[] = [];
  let base: Snapshot | undefined;
  let ended: EndedCommand = { kind: 'refused', diagnostics: [] };
  const contextOf = (plan: Plan): SnapshotContext => ({
    options,
    plan,
    cache: cachesOf(options),
    runs: openHistory(options.file, console),
  });
  return {
    ended: () => ended,
    observer: {
      async planned(plan) {
        if (options.base === undefined) return;
        const context = contextOf(plan);
        base = await findSnapshot(options.base, context);
        if (base === undefined) throw unknownRevision(options.base, context);
      },
      warned: ({ stage, code, message }) => void warnings.push({ stage, code, message }),
      refused(diagnostics) {
        ended = { kind: 'refused', diagnostics };
      },
      ended(plan, report) {
        ended = { kind: 'built', plan, report, warnings, comparison: compare(plan, report) };
      },
    },
  };

  function compare(plan: Plan, report: BuildReport): ReturnType<typeof compareSnapshots> | undefined {
    if (base === undefined) return undefined;
    return compareSnapshots(base, currentSnapshot(contextOf(plan)), 'all', stage => isReported(report, stage));
  }
}

function isReported({ stages }: BuildReport, stage: string): boolean {
  return [...stages.keys()].some(one => one === stage);
}
