/** What a scenario is, and the steps that most of them share. */
import { deepStrictEqual, strictEqual } from 'node:assert';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type CliWorld, givenProject } from '../support/cli-world.js';
import { until } from '../support/until.js';
import { type Forge, withForge } from './forge.js';

export interface Scenario {
  /** Its name for good: scenarios come and go, numbers are not used again. */
  readonly number: number;
  readonly title: string;
  /** 'slow': seconds, so the default suite leaves it out. */
  readonly pace: 'quick' | 'slow';
  /** Why it cannot be played on this machine; undefined where it can. */
  readonly obstacle?: string | undefined;
  /** @throws where the promise is broken. */
  readonly play: () => Promise<void>;
}

export interface SceneOptions {
  readonly environment?: Readonly<Record<string, string>>;
  readonly pace?: Scenario['pace'];
  readonly obstacle?: string | undefined;
}

/** A scenario on the forge of four stages. */
export function scenario(
  number: number,
  title: string,
  scene: (forge: Forge) => Promise<void> | void,
  { environment, pace = 'quick', obstacle }: SceneOptions = {},
): Scenario {
  return { number, title, pace, obstacle, play: () => withForge(scene, environment) };
}

/** A scenario in a project of its own, with this pipeline file. */
export function project(
  number: number,
  title: string,
  pipeline: string,
  scene: (world: CliWorld) => Promise<void> | void,
  { environment, pace = 'quick', obstacle }: SceneOptions = {},
): Scenario {
  const play = async (): Promise<void> => {
    const world = givenProject({ 'pipeline.yaml': pipeline }, environment);
    try {
      await scene(world);
    } finally {
      world.remove();
    }
  };
  return { number, title, pace, obstacle, play };
}

/** Builds all of it, which must work. */
export function buildFirst(forge: Forge): void {
  const first = forge.build();
  strictEqual(first.exitCode, 0, first.stdout + first.stderr);
  deepStrictEqual(first.ran, ['a', 'b', 'c', 'lone']);
  forge.expectRight();
}

/** Builds: exactly these stages run, and everything is right. */
export function buildAgain(forge: Forge, ran: readonly string[], temper?: string): void {
  const built = forge.build();
  strictEqual(built.exitCode, 0, built.stdout + built.stderr);
  deepStrictEqual(built.ran, ran);
  forge.expectRight(temper);
}

/** Every regular file below a folder of the project. */
export function filesBelow(forge: Forge, folder: string): readonly string[] {
  return readdirSync(forge.path(folder), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
    .sort();
}

export const waitForFile = ({ project }: Pick<Forge, 'project'>, name: string): Promise<void> => until(() => project.exists(name), name);

export const expectGone = (pid: number): Promise<void> => until(() => !isThere(pid), `the end of process ${pid}`);

/** A process that nobody has reaped is there. */
function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
