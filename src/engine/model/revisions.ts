/** How does a watcher tell a running build that the plan, or what it reads, may be another by now? */
import { setMaxListeners } from 'node:events';
import type { Plan, StageId } from './plan.js';

export interface Revision {
  readonly plan: Plan;
  readonly targets: 'all' | readonly StageId[];
}

/** The build's side. */
export interface RevisionSource {
  /** The newest revision, which counts as taken from now on. */
  take(): Revision;
  /** Aborted when there is a newer revision than the one taken last: the build looks at everything again, and what is not reached by a change goes on. */
  superseded(): AbortSignal;
}

export interface Revisions extends RevisionSource {
  /** From now on this is to be built, from what files hold now. */
  revise(revision: Revision): void;
  /** Is there one that the build has not taken? */
  hasNews(): boolean;
  /** The one that the build took last. */
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

/** Of a build that nobody revises. */
export function onlyRevision(revision: Revision): RevisionSource {
  const never = newController().signal;
  return { take: () => revision, superseded: () => never };
}

/** Every stage that waits listens to it. */
function newController(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}
