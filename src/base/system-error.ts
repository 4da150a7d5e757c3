/** Errors of system calls: their codes, and the groups of codes that are handled alike. */

/** An error with a code, as Node throws it for a failed system call. `path` and `dest` are set for calls on files. */
export interface SystemError extends Error {
  readonly code: string;
  readonly syscall?: unknown;
  readonly path?: unknown;
  readonly dest?: unknown;
}

/** Permissions forbid the call. */
export const FORBIDDEN = ['EACCES', 'EPERM'] as const;

/** Nothing exists at the path. */
export const MISSING = ['ENOENT', 'ENOTDIR'] as const;

/** A hard link is not possible on this file system, or not between these two. */
export const LINK_REFUSED = ['EXDEV', 'EMLINK', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'] as const;

/** The disk or the user's quota is full. */
export const DISK_FULL = ['ENOSPC', 'EDQUOT'] as const;

/** The process or the system has too many open files. */
export const OPEN_FILES_LIMIT = ['EMFILE', 'ENFILE'] as const;

/** Whether `error` has one of these codes. */
export function hasCode(error: unknown, ...codes: readonly string[]): error is SystemError {
  const code = systemCode(error);
  return code !== undefined && codes.includes(code);
}

/** Whether `error` comes from a failed system call, whatever its code. */
export function isSystemCallError(error: unknown): error is SystemError {
  return error instanceof Error && 'syscall' in error && systemCode(error) !== undefined;
}

/** Returns the code of `error` ("ENOENT"), if it has one. */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** Whether a call failed because nothing exists at its path. A link that leads to itself counts as missing. */
export function isMissing(error: unknown): boolean {
  return hasCode(error, ...MISSING, 'ELOOP');
}

/** The code of `error` for a message, or the error as text if it has none. */
export function codeOrText(error: unknown): string {
  return systemCode(error) ?? String(error);
}
