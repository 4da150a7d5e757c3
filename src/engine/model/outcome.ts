/** The outcome of a stage in a build. */
import { assertNever } from '../../base/assert-never.js';
import { formatBytes, formatDuration } from '../../base/text/format.js';
import type { Failure } from './failure.js';
import type { StageId } from './plan.js';

export type Outcome =
  | { readonly kind: 'up-to-date' }
  /** `from` is absent for the local cache. `content` 'left': only the digests came, because nothing here needs the bytes. */
  | { readonly kind: 'restored'; readonly sizeBytes: number; readonly from?: 'remote'; readonly content?: 'left' }
  /** `content` 'left': a remote worker ran it, and its outputs stayed on the server. */
  | { readonly kind: 'executed'; readonly durationMs: number; readonly content?: 'left' }
  | { readonly kind: 'failed'; readonly failure: Failure }
  /** Not started because the stage `because` failed: a stage that it depends on, or any stage if the build stops at the first failure. */
  | { readonly kind: 'skipped'; readonly because: StageId }
  | { readonly kind: 'cancelled' };

/** Whether the result is on the server alone: nothing of it is published here. */
export function isLeftRemote(outcome: Outcome): boolean {
  return (outcome.kind === 'restored' || outcome.kind === 'executed') && outcome.content === 'left';
}

export function describeOutcome(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'up-to-date':
      return 'up to date';
    case 'restored':
      if (outcome.content === 'left') return 'found in the remote cache, and left there';
      return `restored ${formatBytes(outcome.sizeBytes)} from the ${outcome.from === 'remote' ? 'remote cache' : 'cache'}`;
    case 'executed':
      return `executed in ${formatDuration(outcome.durationMs)}${outcome.content === 'left' ? ', and its outputs stay on the server' : ''}`;
    case 'failed':
      return `failed: ${outcome.failure.message}`;
    case 'skipped':
      return `skipped: ${outcome.because} failed`;
    case 'cancelled':
      return 'cancelled';
    default:
      return assertNever(outcome);
  }
}
