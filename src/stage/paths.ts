/** The paths of a stage's ports. A missing path of a declared port is a defect of the plugin. */
import { CodedError, isCodedError } from '../base/coded-error.js';
import { getDefined } from '../base/invariant.js';
import type { InputPaths } from './define-stage.js';

/** The path of a connected port that takes one artifact. */
export function getInputPath(inputs: InputPaths, port: string): string {
  const path = inputs[port];
  return getDefined(typeof path === 'string' ? path : undefined, `input "${port}"`);
}

/** The paths of a connected record port, by entry. */
export function getInputRecord(inputs: InputPaths, port: string): Readonly<Record<string, string>> {
  const paths = inputs[port];
  return getDefined(typeof paths === 'object' ? paths : undefined, `input record "${port}"`);
}

/** Like `getInputPath`; undefined if nothing is connected. */
export function findInputPath(inputs: InputPaths, port: string): string | undefined {
  return inputs[port] === undefined ? undefined : getInputPath(inputs, port);
}

/** Like `getInputRecord`; undefined if nothing is connected. */
export function findInputRecord(inputs: InputPaths, port: string): Readonly<Record<string, string>> | undefined {
  return inputs[port] === undefined ? undefined : getInputRecord(inputs, port);
}

export function getOutputPath(outputs: Readonly<Record<string, string>>, port: string): string {
  return getDefined(outputs[port], `output "${port}"`);
}

/**
 * Reads the artifact of a connected port.
 * @throws the error of `read`; a coded error gets the port's name before its message, because file names in a run's folder mean nothing to users.
 */
export async function readInput<T>(inputs: InputPaths, port: string, read: (path: string) => Promise<T>): Promise<T> {
  const path = getInputPath(inputs, port);
  try {
    return await read(path);
  } catch (error) {
    if (!isCodedError(error)) throw error;
    const { code, details, help, message, cause } = error;
    throw new CodedError(code, `input "${port}": ${message}`, { details, cause, ...(help === undefined ? {} : { help }) });
  }
}
