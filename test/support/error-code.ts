/** The code with which something fails. */

import { isCodedError } from '../../src/base/coded-error.js';
import { DetectionError } from '../../src/detection/error/detection-error.js';

/** Code, message and help of the CodedError that `run` throws; anything else it does fails the test. */
export async function failureOf(run: () => unknown): Promise<{ code: string; message: string; help: string | undefined }> {
  try {
    await run();
  } catch (error) {
    if (isCodedError(error)) return { code: error.code, message: error.message, help: error.help };
    throw error;
  }
  throw new Error('it did not fail');
}

/** The error of class `family` that `run` throws; anything else it does fails the test. */
export function errorOf<T extends Error>(family: abstract new (...args: never[]) => T, run: () => unknown): T {
  try {
    run();
  } catch (error) {
    if (error instanceof family) return error;
    throw error;
  }
  throw new Error('it did not fail');
}

/** The problems of a detector config that `parse` refuses. */
export function configProblemsOf(parse: () => unknown): unknown {
  const { code, details } = errorOf(DetectionError, parse);
  expect(code).toBe('bad-config');
  return details;
}
