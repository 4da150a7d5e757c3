/** `tanren diff`: compares params and figures with an earlier run, a Git revision or a saved baseline. */
import { compareSnapshots } from '../../engine/insight/history/compare-snapshots.js';
import type { Snapshot } from '../../engine/insight/history/snapshot.js';
import { endWithError } from '../end-with-error.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { cachesOf } from '../open-cache.js';
import { openHistory } from '../open-history.js';
import { openPlan, type PipelineOptions, printDiagnostics, resolveTargets } from '../open-plan.js';
import { makeConsole } from '../render/console.js';
import { encodeDifference, formatDifference } from '../render/diff-table.js';
import { findSnapshot, type Moments, seeBefore, seeNow, unknownMoment } from '../snapshots.js';

export interface DiffOptions extends PipelineOptions {
  readonly all: boolean;
  readonly json: boolean;
}

/** @param words one snapshot or a range of two ("r41", "main..now") if the first word names any, then stages. */
export async function runDiff(words: readonly string[], options: DiffOptions): Promise<ExitCode> {
  const console = makeConsole({ json: options.json });
  const opened = await openPlan(options, [], console);
  if (opened === undefined) return EXIT.usage;
  const { plan } = opened;
  const moments: Moments = { options, plan, cache: cachesOf(options), runs: openHistory(options.file, console) };
  try {
    const { sides, targets } = await readWords(words, moments);
    const resolved = resolveTargets({ plan, diagnostics: [], sources: new Map(), files: [] }, targets);
    if (resolved.targets === undefined) {
      printDiagnostics(resolved.diagnostics, new Map(), console);
      return EXIT.usage;
    }
    const wanted = resolved.targets === 'all' ? undefined : new Set<string>(resolved.targets);
    const difference = compareSnapshots(...sides, options.all ? 'all' : 'changed', stage => wanted?.has(stage) ?? true);
    if (options.json) console.json(encodeDifference(difference));
    else for (const line of formatDifference(difference, console)) console.line(line);
    return EXIT.built;
  } catch (error) {
    return endWithError(error, console, options, EXIT.usage);
  }
}

interface Words {
  readonly sides: readonly [before: Snapshot, after: Snapshot];
  readonly targets: readonly string[];
}

async function readWords(words: readonly string[], moments: Moments): Promise<Words> {
  const [first, ...rest] = words;
  if (first === undefined) return { sides: [seeBefore(moments), seeNow(moments)], targets: [] };
  const range = /^(.+)\.\.(.*)$/.exec(first);
  if (range !== null && !moments.plan.targets.has(first)) {
    const [, from = '', to = ''] = range;
    return { sides: [await getSnapshot(from, moments), await getSnapshot(to === '' ? 'now' : to, moments)], targets: rest };
  }
  const before = await findSnapshot(first, moments);
  if (before !== undefined) return { sides: [before, seeNow(moments)], targets: rest };
  if (moments.plan.targets.has(first)) return { sides: [seeBefore(moments), seeNow(moments)], targets: words };
  throw unknownMoment(first, moments);
}

async function getSnapshot(name: string, moments: Moments): Promise<Snapshot> {
  const found = await findSnapshot(name, moments);
  if (found === undefined) throw unknownMoment(name, moments);
  return found;
}
