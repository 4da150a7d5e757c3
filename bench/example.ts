/** What do the measurements share? One built copy of the default pipeline, made when the first of them asks for it. */
import { cpus } from 'node:os';
import { type CliBuild, givenShapesProject, type ShapesProject } from '../test/support/shapes-project.js';

export interface BuiltExample {
  readonly project: ShapesProject;
  /** Of the build with an empty cache. */
  readonly build: CliBuild;
  readonly coldMs: number;
}

export interface Example {
  get(): BuiltExample;
  remove(): void;
}

export function makeExample(): Example {
  let built: BuiltExample | undefined;
  return {
    get: () => {
      built ??= buildExample();
      return built;
    },
    remove: () => built?.project.remove(),
  };
}

function buildExample(): BuiltExample {
  const project = givenShapesProject('all');
  const start = performance.now();
  const build = project.build();
  const coldMs = performance.now() - start;
  if (build.exitCode !== 0) throw new Error(`the default pipeline does not build:\n${build.text}`);
  return { project, build, coldMs };
}

/** "2 cores, x64, Node 20.20.2": enough to judge a figure by, and no name of a machine. */
export function describeMachine(): string {
  return `${cpus().length} cores, ${process.arch}, Node ${process.versions.node}`;
}
