/** Names of runs: "r41", "last", or "last~2" for two before the last. */
import { EngineError } from '../../model/engine-error.js';
import type { RunRecord } from './run-record.js';

const NAME = /^(?:r[1-9]\d{0,14}|last(?:~\d{1,9})?)$/;

export function isRunName(text: string): boolean {
  return NAME.test(text);
}

/** The index of the run in `runs`. @throws EngineError `no-such-run`. */
export function getRunIndex(runs: readonly RunRecord[], name: string): number {
  const back = /^last(?:~(\d+))?$/.exec(name);
  const index = back === null ? runs.findIndex(({ run }) => run === name) : runs.length - 1 - Number(back[1] ?? 0);
  if (runs[index] !== undefined) return index;
  const help =
    runs.length === 0 ? 'no build has changed a result here yet' : `the history has ${runs[0]?.run} to ${runs.at(-1)?.run}: tanren history`;
  throw new EngineError('no-such-run', `unknown run ${name}`, { help });
}
