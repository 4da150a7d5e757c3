/** A build that the page has started, in a process of its own: it ends with its own exit code, and is followed like any other build. */
export interface BuildProcess {
  readonly pid: number;
  /** Ends the build as Ctrl-C does. A call soon after another one changes nothing; a later one ends it at once. */
  cancel(): void;
  /** Resolves when the process has ended. `exitCode`: as in shells, also after a signal. `said`: the last of what it wrote about problems. */
  readonly ended: Promise<{ readonly exitCode: number | undefined; readonly said: string }>;
}
