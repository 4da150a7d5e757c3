/** Asks git whether files of the project differ from the commit that is checked out. */
import { execFile } from 'node:child_process';

const MOST_MS = 2_000;
const MOST_BYTES = 16_000_000;

/**
 * Whether a tracked file of the project differs from the commit. The lock file of the pipeline is left out, because builds write it.
 * Undefined if git gives no answer within two seconds. Git runs beside the build, writes nothing, and its file monitor is not started.
 */
export function findEdits(projectFolder: string, pipeline: string): Promise<boolean | undefined> {
  const lock = `:(exclude,glob)**/${pipeline.replaceAll(/[*?[\]\\]/g, '?')}.lock`;
  const settings = ['-C', projectFolder, '-c', 'core.fsmonitor=false', '--no-optional-locks'];
  const status = ['status', '--porcelain', '--untracked-files=no', '--ignore-submodules=all', '--', '.', lock];
  return new Promise(resolve => {
    execFile('git', [...settings, ...status], { timeout: MOST_MS, maxBuffer: MOST_BYTES }, (error, stdout) =>
      resolve(error === null ? stdout.length > 0 : undefined),
    );
  });
}
