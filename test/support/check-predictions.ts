/** Checks that everything was true that a dry run was sure of. */
import type { Examined } from '../../src/engine/insight/status/stage-status.js';

export function checkPredictions(
  foreseen: ReadonlyMap<string, Pick<Examined, 'status'>>,
  outcomes: Readonly<Record<string, string>>,
  failures: 'stop' | 'keep-going',
): void {
  const stopped = failures === 'stop' && Object.values(outcomes).includes('failed');
  for (const [stage, { status }] of foreseen) {
    const outcome = outcomes[stage] ?? 'missing';
    if (stopped && outcome === 'skipped') continue;
    const above =
      status.kind === 'stale'
        ? status.after
        : status.kind === 'undecided'
          ? [...status.because, ...(status.equalStage === undefined ? [] : [status.equalStage])]
          : [];
    const isHeldUp = above.some(id => outcomes[id] === 'failed' || outcomes[id] === 'skipped');
    const allowed = isHeldUp ? ['skipped', ...ALLOWED[status.kind]] : ALLOWED[status.kind];
    if (!allowed.includes(outcome)) throw new Error(`stage ${stage} was said to be ${status.kind}, and was ${outcome}`);
  }
}

const ALLOWED: Readonly<Record<Examined['status']['kind'], readonly string[]>> = {
  'up-to-date': ['up-to-date'],
  restorable: ['restored'],
  stale: ['executed', 'failed'],
  undecided: ['up-to-date', 'restored', 'executed', 'failed'],
  // Skipped, where something before it fails that was to run.
  impossible: ['failed', 'skipped'],
  blocked: ['skipped'],
};
