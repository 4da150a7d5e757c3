/** The built copy of the default pipeline that the measurements share, made when the first of them needs it. */
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { type CliBuild, givenShapesProject, type ShapesProject } from '../test/support/shapes-project.js';

export interface BuiltExample {
  readonly project: ShapesProject;
  /** The build with an empty cache. */
  readonly build: CliBuild;
  readonly coldMs: number;
  /** User and system time of that build and of all processes that it started; undefined if the system does not report it. */
  readonly processorMs: number | undefined;
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
  const before = readChildrenMs();
  const build = project.build();
  const coldMs = performance.now() - start;
  const after = readChildrenMs();
  if (build.exitCode !== 0) throw new Error(`the default pipeline does not build:\n${build.text}`);
  return { project, build, coldMs, processorMs: before === undefined || after === undefined ? undefined : after - before };
}

/** The system counts processor time in hundredths of a second. */
const TICK_MS = 10;

/** Processor time of all ended child processes, including the processes that they started. Available on Linux only. */
function readChildrenMs(): number | undefined {
  if (process.platform !== 'linux') return undefined;
  const text = readFileSync('/proc/self/stat', 'utf8');
  // The program's name is in parentheses and may contain spaces.
  const facts = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [user, system] = facts.slice(13, 15).map(Number);
  return ((user ?? 0) + (system ?? 0)) * TICK_MS;
}

/** "2 cores, x64, Node 20.20.2": enough to judge a figure, without the name of the machine. */
export function describeMachine(): string {
  return `${cpus().length} cores, ${process.arch}, Node ${process.versions.node}`;
}
