/** How many tests passed and failed? Adds each run's counts to the file named by TANREN_TALLY, so that CI can print one sum. */
import { appendFileSync } from 'node:fs';
import type { AggregatedResult } from '@jest/reporters';

export default class TallyReporter {
  onRunComplete(_contexts: unknown, result: AggregatedResult): void {
    const file = process.env.TANREN_TALLY;
    if (file === undefined) return;
    const failed = result.numFailedTests + result.numRuntimeErrorTestSuites;
    appendFileSync(file, `${JSON.stringify({ passed: result.numPassedTests, failed, skipped: result.numPendingTests })}\n`);
  }
}
