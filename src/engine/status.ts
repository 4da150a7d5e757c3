/** What would a build do, and why? Reads only. */
import { InternalError } from '../base/invariant.js';
import type { Change } from './action/changes.js';
import type { Failure } from './failure.js';
import type { Plan, StageId } from './plan/plan.js';
import type { EnginePorts } from './ports.js';

export type StageStatus =
  | { readonly kind: 'up-to-date' }
  /** A result for exactly these inputs is in the cache. */
  | { readonly kind: 'restorable'; readonly reasons: readonly string[]; readonly changes: readonly Change[] }
  /** A build would run it. */
  | { readonly kind: 'stale'; readonly reasons: readonly string[]; readonly changes: readonly Change[] }
  /** It depends on stages that would run: whether it runs too is known when their outputs are. */
  | { readonly kind: 'undecided'; readonly because: readonly StageId[] }
  /** It cannot start: an input is missing or unreadable. */
  | { readonly kind: 'impossible'; readonly failure: Failure };

export interface StatusOptions {
  readonly targets: 'all' | readonly StageId[];
  readonly force: 'targets' | 'never';
  readonly cacheFolder?: string;
}

/** The status of every selected stage, in the plan's order. This is also the dry run of a build with the same options. */
export async function computeStatus(_plan: Plan, _options: StatusOptions, _ports: EnginePorts): Promise<ReadonlyMap<StageId, StageStatus>> {
  throw new InternalError('the engine has not landed yet');
}
