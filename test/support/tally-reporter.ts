/** Adds the counts of each run of jest, and what failed in it, to the file named by TANREN_TALLY: CI prints their sum. */
import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { AggregatedResult, TestResult } from '@jest/reporters';

export default class TallyReporter {
  onRunComplete(_contexts: unknown, result: AggregatedResult): void {
    const file = process.env.TANREN_TALLY;
    if (file === undefined) return;
    const row = {
      passed: result.numPassedTests,
      failed: result.numFailedTests + result.numRuntimeErrorTestSuites,
      skipped: result.numPendingTests,
      failures: result.testResults.flatMap(describeFailures),
    };
    appendFileSync(file, `${JSON.stringify(row)}\n`);
  }
}

/** One line per failed test, or one for a file that could not run at all. */
function describeFailures({ testFilePath, testExecError, testResults }: TestResult): readonly string[] {
  const path = relative(process.cwd(), testFilePath);
  if (testExecError !== undefined) return [`${path}: the file does not run: ${firstLine(testExecError.message)}`];
  return testResults.flatMap(({ status, fullName, failureMessages }) =>
    status === 'failed' ? [`${path}: ${fullName}: ${firstLine(failureMessages[0] ?? 'no message')}`] : [],
  );
}

function firstLine(message: string): string {
  return (
    message
      .split('\n')
      .map(line => line.trim())
      .find(line => line !== '') ?? ''
  );
}
