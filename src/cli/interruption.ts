/** What do Ctrl-C and other signals do to a command? The first one ends what runs, and the command with it; the second one does not wait for that. */
import { EXIT, type ExitCode } from './exit-code.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

type Signal = (typeof SIGNALS)[number];

/** So long it usually takes to end everything; after that, something is said. */
const SOON_MS = 1_500;

let received: Signal | undefined;
let forced = false;

/** Aborted by the first signal, with its name as the reason. Nothing but the signals of one process decides it. */
export function abortOnSignals(): AbortSignal {
  const controller = new AbortController();
  for (const signal of SIGNALS) process.on(signal, () => hear(signal, controller));
  return controller.signal;
}

function hear(signal: Signal, controller: AbortController): void {
  if (received !== undefined) {
    forced = true;
    // Who outlives us kills what we have started.
    process.exit(exitCodeOf(received));
  }
  received = signal;
  controller.abort(signal);
  setTimeout(() => process.stderr.write('ending what runs; once more ends at once\n'), SOON_MS).unref();
}

/** The exit code of a command that ended as `code` says: of an interrupted one 128 and the number of its signal, as shells have it. */
export function withSignal(code: ExitCode): ExitCode {
  return code === EXIT.interrupted && received !== undefined ? exitCodeOf(received) : code;
}

/** Does the process end without its work being done because somebody asked for that twice? */
export function isForced(): boolean {
  return forced;
}

function exitCodeOf(signal: Signal): ExitCode {
  const codes: Readonly<Record<Signal, ExitCode>> = { SIGINT: EXIT.interrupted, SIGTERM: EXIT.terminated, SIGHUP: EXIT.hungUp };
  return codes[signal];
}
