/** The builds that the page has started: one at a time. Further ones wait for the lock like any other build. */
import { anyText, integer, object } from '../../base/schema/build-schema.js';
import type { FromSchema } from '../../base/schema/from-schema.js';
import type { BuildProcess } from './build-process.js';
import type { ProjectPorts } from './project-ports.js';

export interface StartedBuilds {
  /** @returns the process. */
  start(targets: readonly string[], options: { readonly force: boolean }): number;
  /** Follows a sweep like a build. @returns the process. */
  follow(build: BuildProcess): number;
  /** Ends the builds that were started here. @returns how many. */
  cancel(): number;
  /** The processes that run now. */
  running(): readonly number[];
}

/** A build that failed before its first stage, as for an error in the pipeline file, has no journal: the page shows what it wrote. */
export const ENDED_BUILD = object({ pid: integer(0), said: anyText('What it wrote.') }, { exitCode: integer(0) });

export type EndedBuild = FromSchema<typeof ENDED_BUILD>;

export function startedBuilds({ startBuild }: Pick<ProjectPorts, 'startBuild'>, onEnd: (ended: EndedBuild) => void): StartedBuilds {
  const running = new Map<number, BuildProcess>();
  const follow = (build: BuildProcess): number => {
    running.set(build.pid, build);
    void build.ended.then(({ exitCode, said }) => {
      running.delete(build.pid);
      onEnd({ pid: build.pid, said, ...(exitCode === undefined ? {} : { exitCode }) });
    });
    return build.pid;
  };
  return {
    start: (targets, options) => follow(startBuild(targets, options)),
    follow,
    cancel() {
      for (const build of running.values()) build.cancel();
      return running.size;
    },
    running: () => [...running.keys()],
  };
}
