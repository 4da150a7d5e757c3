/** Keeps V8's optimizing compiler from starting while a process that ends soon looks at thousands of paths. */
import type { RecordedStamps } from '../../engine/store/files/recorded-stamps.js';

/** The last major version of V8 without a cheaper optimizing compiler before the last one (Node 20). Later ones gain nothing here. */
const LAST_V8 = 11;

/**
 * Numbers of paths for which the optimizing compiler costs more than it saves. Processor time on Node 20 of a process that only takes stamps, with the
 * compiler and without: 1,000 paths 9 and 10 ms, 2,000 paths 28 and 17 ms, 10,000 paths 69 and 54 ms, 20,000 paths 98 and 104 ms.
 * Loading the module with the flag takes 2.5 ms of it.
 */
const FEWEST_PATHS = 1_200;
const MOST_PATHS = 10_000;

/** A path and a stamp in the text of a folder's stamps are not shorter. */
const ENTRY_CHARACTERS = 60;

/** @returns the result of `look`, during which functions are interpreted, or compiled without optimization, if there are some thousands of `stamps`. */
export function lookWithoutOptimizing(stamps: RecordedStamps, look: () => boolean): boolean {
  if (!isWorthIt(countPaths(stamps))) return look();
  // A plain import would load the module, and thirty others, at every start.
  const { setFlagsFromString } = process.getBuiltinModule('node:v8');
  setFlagsFromString('--no-opt');
  try {
    return look();
  } finally {
    setFlagsFromString('--opt');
  }
}

function isWorthIt(paths: number): boolean {
  return paths >= FEWEST_PATHS && paths <= MOST_PATHS && Number.parseInt(process.versions.v8, 10) <= LAST_V8;
}

/** About the number of paths that a check of the stamps looks at. */
function countPaths({ itself, followed, trees }: RecordedStamps): number {
  const inTrees = trees.reduce((sum, { stamps }) => sum + stamps.length / ENTRY_CHARACTERS, 0);
  return (itself.length + followed.length) / 2 + inTrees;
}
