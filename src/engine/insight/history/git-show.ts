/** Reads files of a git revision by running git. Only commands that name a revision use this module. */
import { spawnSync } from 'node:child_process';
import { isAbsolute, relative } from 'node:path';
import { type Digest, digestBytes, parseDigest } from '../../../base/digest.js';
import { EngineError } from '../../model/engine-error.js';

const MOST_BYTES = 256_000_000;

/** The hash of the commit that `revision` names ("HEAD~2", "v1", a branch); undefined if it names none, or there is no repository. */
export function findCommit(projectFolder: string, revision: string): string | undefined {
  const { status, stdout } = git(projectFolder, ['rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`]);
  const commit = stdout.toString().trim();
  return status === 0 && /^[0-9a-f]{40,64}$/.test(commit) ? commit : undefined;
}

/**
 * The content of the file at `path` (absolute) in `commit`; undefined if the path is missing there or is a folder.
 * @throws EngineError `git-failed`.
 */
export function showFile(projectFolder: string, commit: string, path: string): Buffer | undefined {
  const from = relative(projectFolder, path);
  if (isAbsolute(from)) return undefined;
  // With `./` git resolves the path relative to the folder that it is started in.
  const { status, stdout, stderr } = git(projectFolder, ['cat-file', 'blob', `${commit}:./${from.replaceAll('\\', '/')}`]);
  if (status === 0) return stdout;
  // 128: the commit has no such file. `findCommit` would have failed on a damaged repository.
  if (status === 128) return undefined;
  throw new EngineError('git-failed', `git cat-file ended with exit code ${status}: ${stderr.toString().trim()}`);
}

/** The digest of the file at `path` in `commit`. For a file in Git LFS it is taken from the pointer. */
export function digestAt(projectFolder: string, commit: string, path: string): Digest | undefined {
  const content = showFile(projectFolder, commit, path);
  if (content === undefined) return undefined;
  const pointer = content.length < 1024 ? LFS_POINTER.exec(content.toString()) : null;
  return parseDigest(pointer?.[1]) ?? digestBytes(content);
}

/** @see https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md */
const LFS_POINTER = /^version https:\/\/git-lfs\.github\.com\/spec\/v1\n(?:[^\n]*\n)*oid sha256:([0-9a-f]{64})\n/;

export interface GitEnd {
  readonly status: number | null;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

/** Runs git without writing to the repository: no lock is taken, and no monitor is started. @throws EngineError `git-failed`. */
export function git(cwd: string, args: readonly string[]): GitEnd {
  const { status, stdout, stderr, error } = spawnSync('git', ['-C', cwd, '-c', 'core.fsmonitor=false', ...args], {
    maxBuffer: MOST_BYTES,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, GIT_OPTIONAL_LOCKS: '0' },
  });
  if (error === undefined) return { status, stdout, stderr };
  throw new EngineError('git-failed', `git cannot be started: ${error.message}`, {
    help: 'install git, or compare with a run (last~1) or a baseline',
    cause: error,
  });
}
