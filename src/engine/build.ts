/** How is exactly the missing part of a plan built? */
import { InternalError } from '../base/invariant.js';
import type { Plan, StageId } from './plan/plan.js';
import type { EnginePorts } from './ports.js';
import type { BuildReport } from './report.js';

export interface BuildOptions {
  /** Stages to build with all they depend on: `plan.targets` resolves names. */
  readonly targets: 'all' | readonly StageId[];
  /** Units of the cpu pool; where absent the plan's `cpu` pool, or the number of processors. */
  readonly jobs?: number;
  readonly failures: 'stop' | 'keep-going';
  /** 'targets': run the targets (not what they depend on) even where a record exists, and replace it. */
  readonly force: 'targets' | 'never';
  /** Where artifacts of earlier builds are kept; cache/ in the project folder where absent. */
  readonly cacheFolder?: string;
}

/** Builds the targets. Stage failures, missed gates and cancellation are in the report; it throws internal errors only. */
export async function build(_plan: Plan, _options: BuildOptions, _ports: EnginePorts): Promise<BuildReport> {
  throw new InternalError('the engine has not landed yet');
}
