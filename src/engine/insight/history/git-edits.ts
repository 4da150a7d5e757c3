/** Asks git whether files of the project differ from the commit that is checked out. */
import { spawnSync } from 'node:child_process';

const MOST_MS = 2_000;

/**
 * 'edited': a tracked file of the project differs from the commit, the lock of the pipeline aside, because builds write it. Undefined if git cannot say so
 * in time. Git writes nothing, and its file monitor is not started.
 */
export function findEdits(projectFolder: string, pipeline: string): 'edited' | 'none' | undefined {
  const lock = `:(exclude,glob)**/${pipeline.replaceAll(/[*?[\]\\]/g, '?')}.lock`;
  const command = ['-C', projectFolder, '-c', 'core.fsmonitor=false', '--no-optional-locks'];
  const { status, stdout, error } = spawnSync(
    'git',
    [...command, 'status', '--porcelain', '--untracked-files=no', '--ignore-submodules=all', '--', '.', lock],
    { stdio: ['ignore', 'pipe', 'ignore'], timeout: MOST_MS, maxBuffer: 16_000_000 },
  );
  if (error !== undefined || status !== 0) return undefined;
  return stdout.length > 0 ? 'edited' : 'none';
}
