/** What is connected to the ports of the page. */
import type { BuildSummary } from '../../src/stage/build-summary.js';
import type { InputPaths } from '../../src/stage/define-stage.js';

/** The artifacts that an entry of a port reads. */
export type ReadArtifact = (port: string, entry: string) => readonly { readonly stage: string; readonly output: string }[];

/** Which artifact is connected to an entry of a port of the page; none if it is a source. */
export function findRead(reads: BuildSummary['reads']): ReadArtifact {
  return (port, entry) =>
    reads.flatMap(one =>
      one.kind === 'artifact' && one.port === port && one.entry === entry ? [{ stage: one.stage, output: one.output }] : [],
    );
}

/** Entries of a record port with their paths, by name. */
export function listEntries(inputs: InputPaths, port: string): readonly (readonly [string, string])[] {
  const paths = inputs[port];
  return typeof paths === 'object' ? Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1)) : [];
}
