/** How states of stages are named and marked: a word, a sign and a color, so that none of them is the only indication. */

import type { StageRow } from '../../../report/views/pipeline-data.js';

export interface Look {
  readonly word: string;
  readonly sign: string;
  /** Class of the color. */
  readonly tone: 'good' | 'bad' | 'warn' | 'info' | 'mute';
}

const LOOKS: Readonly<Record<string, Look>> = {
  'up-to-date': { word: 'up to date', sign: '✓', tone: 'good' },
  restorable: { word: 'in the cache', sign: '↓', tone: 'info' },
  stale: { word: 'would run', sign: '○', tone: 'warn' },
  undecided: { word: 'may run', sign: '○', tone: 'warn' },
  impossible: { word: 'cannot run', sign: '✗', tone: 'bad' },
  blocked: { word: 'blocked', sign: '✗', tone: 'bad' },
  running: { word: 'running', sign: '●', tone: 'info' },
  retrying: { word: 'tries again', sign: '↻', tone: 'warn' },
  stopped: { word: 'stopped', sign: '–', tone: 'mute' },
  waiting: { word: 'waits', sign: '…', tone: 'mute' },
  restored: { word: 'restored', sign: '↓', tone: 'info' },
  executed: { word: 'built', sign: '✓', tone: 'good' },
  failed: { word: 'failed', sign: '✗', tone: 'bad' },
  skipped: { word: 'skipped', sign: '–', tone: 'mute' },
  cancelled: { word: 'cancelled', sign: '–', tone: 'mute' },
  built: { word: 'built', sign: '✓', tone: 'good' },
  'gate-missed': { word: 'gate missed', sign: '✗', tone: 'bad' },
  'not-reproduced': { word: 'not reproduced', sign: '✗', tone: 'bad' },
};

/** Whether the results that are shown are of other inputs than the present ones. A result in the cache that a build would restore is of the present ones. */
export function isOutdated({ state, built, cached }: Pick<StageRow, 'state' | 'built' | 'cached'>): boolean {
  return built && state !== 'up-to-date' && !(state === 'restorable' && cached === true);
}

export function lookOf(state: string): Look {
  return LOOKS[state] ?? { word: state, sign: '?', tone: 'mute' };
}
