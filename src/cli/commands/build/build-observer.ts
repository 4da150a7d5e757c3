/** What a command that builds reports to those who write about it. */
import { isCodedError } from '../../../base/coded-error.js';
import type { Diagnostic } from '../../../engine/model/diagnostic.js';
import type { BuildEvent } from '../../../engine/model/events.js';
import type { Plan } from '../../../engine/model/plan.js';
import type { BuildReport } from '../../../engine/model/report.js';

export interface BuildObserver {
  /** Before the build. @throws CodedError, and nothing is built. */
  planned(plan: Plan): Promise<void>;
  warned(event: Extract<BuildEvent, { kind: 'warning' }>): void;
  /** Nothing was built. */
  refused(diagnostics: readonly Diagnostic[]): void;
  ended(plan: Plan, report: BuildReport): void;
}

export const NO_OBSERVER: BuildObserver = {
  planned: () => Promise.resolve(),
  warned: () => undefined,
  refused: () => undefined,
  ended: () => undefined,
};

/** An error that refused a command, as a diagnostic. */
export function diagnosticOf(error: unknown): Diagnostic {
  const at = { severity: 'error', span: undefined } as const;
  if (isCodedError(error)) return { ...at, code: error.code, message: error.message, help: error.help };
  return { ...at, code: 'internal', message: error instanceof Error ? error.message : String(error), help: undefined };
}
