/** Pages whose console blocks are compared with what the commands print. */
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { CliWorld } from './cli-world.js';
import { type ConsoleStep, findMismatch, playSteps, stepsOf, updatePage } from './console-blocks.js';
import { DIST } from './world.js';

/** The program `tanren` of this build, for `givenProject`. */
export const TANREN = { 'bin/tanren': `#!/bin/sh\nexec "${process.execPath}" "${join(DIST, 'bin/tanren.js')}" "$@"\n` };

/**
 * Runs the commands of a page in `folder` of a world with TANREN. UPDATE_GOLDEN=1 rewrites the output on the page.
 * @returns the steps, and those whose output is not that of the page.
 */
export function playPage(
  path: string,
  world: CliWorld,
  folder = world.folder,
): { readonly steps: readonly ConsoleStep[]; readonly wrong: readonly unknown[] } {
  const page = readFileSync(path, 'utf8');
  const steps = stepsOf(page);
  const outputs = playSteps(steps, folder, environmentOf(world));
  if (process.env.UPDATE_GOLDEN === '1') writeFileSync(path, updatePage(page, steps, outputs));
  const compared = steps.map(({ command, expected }, index) => [command, findMismatch(expected, outputs[index] ?? [])]);
  return { steps, wrong: compared.filter(([, mismatch]) => mismatch !== undefined) };
}

/** The environment of commands of a page in a world with TANREN, which becomes a program. */
export function environmentOf({ folder }: Pick<CliWorld, 'folder'>): NodeJS.ProcessEnv {
  chmodSync(join(folder, 'bin/tanren'), 0o755);
  return { ...process.env, PATH: [join(folder, 'bin'), process.env.PATH].join(delimiter), NO_COLOR: '1', FORCE_COLOR: undefined };
}
