/** What does the process say to its caller? */

export const EXIT = { built: 0, failed: 1, usage: 2, internal: 70, interrupted: 130 } as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
