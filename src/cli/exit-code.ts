/** What does the process say to its caller? */

/** Those of an interruption are 128 and the number of the signal, as shells have it. */
export const EXIT = { built: 0, failed: 1, usage: 2, internal: 70, hungUp: 129, interrupted: 130, terminated: 143 } as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** @param signal as the command was given it: its reason names what interrupted. */
export function interruptionCode({ reason }: AbortSignal): ExitCode {
  if (reason === 'SIGTERM') return EXIT.terminated;
  return reason === 'SIGHUP' ? EXIT.hungUp : EXIT.interrupted;
}
