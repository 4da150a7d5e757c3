/** Revisions of the plan and the targets, by which a watcher tells a running build that its inputs may have changed. */
import { setMaxListeners } from 'node:events';
import type { Plan, StageId } from './plan.js';

export interface Revision {
  readonly plan: Plan;
  readonly targets: 'all' | readonly StageId[];
}

/** The build's side. */
export interface RevisionSource {
  /** Returns the newest revision and marks it as taken. */
  take(): Revision;
  /**
   * Aborted when a newer revision exists than the one taken last.
   * The build then checks everything again, and runs that the change does not affect continue.
   */
  superseded(): AbortSignal;
}

export interface Revisions extends RevisionSource {
  /** Sets the revision to build from now on, with the current content of the files. */
  revise(revision: Revision): void;
  /** Whether there is a revision that the build has not taken. */
  hasNews(): boolean;
  /** The revision that the build took last. */
  taken(): Revision;
}

export function createRevisions(first: Revision): Revisions {
  let newest = first;
  let taken = first;
  let news = newController();
  return {
    take() {
      if (news.signal.aborted) news = newController();
      taken = newest;
      return taken;
    },
    superseded: () => news.signal,
    revise(revision) {
      newest = revision;
      news.abort();
    },
    hasNews: () => news.signal.aborted,
    taken: () => taken,
  };
}

/** For a build whose plan never changes. */
export function onlyRevision(revision: Revision): RevisionSource {
  const never = newController().signal;
  return { take: () => revision, superseded: () => never };
}

/** The listener limit is off, because every waiting stage listens to the signal. */
function newController(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}
