/** What the reports for CI systems are made from: a build that ended, or a command that was refused before it built. */
import { relative, resolve } from 'node:path';
import type { SnapshotDifference } from '../../../engine/insight/history/compare-snapshots.js';
import type { Diagnostic } from '../../../engine/model/diagnostic.js';
import type { GateResult } from '../../../engine/model/gate-result.js';
import type { Plan, StageId } from '../../../engine/model/plan.js';
import type { BuildReport } from '../../../engine/model/report.js';
import type { SourceSpan } from '../../../engine/model/source-span.js';
import { formatMetric } from '../format-metric.js';

export type EndedCommand =
  | {
      readonly kind: 'built';
      readonly plan: Plan;
      readonly report: BuildReport;
      readonly warnings: readonly BuildWarning[];
      /** The figures beside those of a base, all of them; undefined without a base. */
      readonly comparison: SnapshotDifference | undefined;
    }
  /** The pipeline file, the lock file or an argument is wrong. */
  | { readonly kind: 'refused'; readonly diagnostics: readonly Diagnostic[] };

export interface BuildWarning {
  readonly stage: StageId | undefined;
  readonly code: string;
  readonly message: string;
}

/** "bbox.AP >= 0.5" */
export function boundOf({ gate }: GateResult): string {
  return `${gate.metric} ${gate.operator} ${gate.bound}`;
}

/** "0.4512 misses >= 0.5", or that there is no such metric. */
export function missOf({ gate, value }: GateResult): string {
  if (value === undefined) return `the metrics have no "${gate.metric}"`;
  return `${gate.metric} is ${formatMetric(value)}, expected ${gate.operator} ${gate.bound}`;
}

/**
 * The path of a span from a folder, with slashes; undefined outside that folder.
 * @param cwd the folder that paths on the command line start in.
 */
export function pathOf({ file }: SourceSpan, cwd: string, folder: string): string | undefined {
  const path = relative(folder, resolve(cwd, file));
  return path.startsWith('..') || resolve(path) === path ? undefined : path.replaceAll('\\', '/');
}
