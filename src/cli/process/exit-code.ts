/** The exit codes of the process. */

export const EXIT = { built: 0, failed: 1, usage: 2, internal: 70, hungUp: 129, interrupted: 130, terminated: 143 } as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
