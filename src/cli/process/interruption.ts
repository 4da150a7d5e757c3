/** Handles Ctrl-C and other signals: the first stops the running work and then the command; the second exits at once. A closed output is another end. */
import { EXIT, type ExitCode } from './exit-code.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

type Signal = (typeof SIGNALS)[number];

/** The usual time to stop all work. After it, a message is printed. */
const SOON_MS = 1_500;

let received: Signal | undefined;
let forced = false;

/**
 * Returns a signal that the first process signal aborts, with the name of that signal as the reason.
 * The state of this module depends only on the signals that this process receives.
 */
export function abortOnSignals(): AbortSignal {
  const controller = new AbortController();
  for (const signal of SIGNALS) process.on(signal, () => onSignal(signal, controller));
  return controller.signal;
}

function onSignal(signal: Signal, controller: AbortController): void {
  if (received !== undefined) {
    forced = true;
    // The reaper, which outlives this process, kills the processes that this one started.
    process.exit(exitCodeOf(received));
  }
  received = signal;
  controller.abort(signal);
  setTimeout(() => process.stderr.write('stopping the running work; interrupt again to exit at once\n'), SOON_MS).unref();
}

/** Aborts when stdout is closed, because no one can see any more what is printed. */
export function abortOnClosedOutput(): AbortSignal {
  const controller = new AbortController();
  process.stdout.once('error', () => controller.abort());
  return controller.signal;
}

/** The exit code of a command that ended with `code`. An interrupted command gets 128 plus the signal number, as in shells. */
export function withSignal(code: ExitCode): ExitCode {
  return code === EXIT.interrupted && received !== undefined ? exitCodeOf(received) : code;
}

/** Whether the process ends before its work is done because of a second signal. */
export function isForced(): boolean {
  return forced;
}

function exitCodeOf(signal: Signal): ExitCode {
  const codes: Readonly<Record<Signal, ExitCode>> = { SIGINT: EXIT.interrupted, SIGTERM: EXIT.terminated, SIGHUP: EXIT.hungUp };
  return codes[signal];
}
