/** Adds the name of a sample to errors that occur while it is processed. */
import { isCodedError } from '../base/coded-error.js';
import { StageError } from './stage-error.js';

/** Runs `work`. Errors that input can cause get `label`, such as "image 7 (cat.jpg)", before their message and keep their code. */
export async function nameSample<T>(label: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isCodedError(error)) throw error;
    throw new StageError(error.code, `${label}: ${error.message}`, {
      details: error.details,
      cause: error,
      ...(error.help === undefined ? {} : { help: error.help }),
    });
  }
}
