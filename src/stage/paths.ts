/** Where is the file of a port? A port that the plugin declares and needs is there; anything else is a defect of the declaration. */
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

export function getOutputPath(outputs: Readonly<Record<string, string>>, port: string): string {
  return getDefined(outputs[port], `output "${port}"`);
}
