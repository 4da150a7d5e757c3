/** What can go wrong with an external runner? Each way has its code; docs/errors.md lists them. */
import { CodedError } from '../../base/coded-error.js';

/** A runner's result is never given where one of these is thrown. */
export class RunnerError extends CodedError {
  override readonly name = 'RunnerError';
}
