/** `tanren diff`: compares params and figures with an earlier run, a Git revision or a saved baseline. */
import { compareSnapshots, type SnapshotDifference } from '../../../engine/insight/history/compare-snapshots.js';
import type { Snapshot } from '../../../engine/insight/history/snapshot.js';
import { cachesOf } from '../../pipeline/open-cache.js';
import { openHistory } from '../../pipeline/open-history.js';
import { openPlan, type PipelineOptions, printDiagnostics, resolveTargets } from '../../pipeline/open-plan.js';
import { EXIT, type ExitCode } from '../../process/exit-code.js';
import { encodeDifference, formatDifference } from '../../render/diff-table.js';
import { makeConsole } from '../../terminal/console.js';
import { endWithError } from '../../terminal/end-with-error.js';
import { findOutdated, OUTDATED_NOTE } from './outdated.js';
import { currentSnapshot, findSnapshot, previousSnapshot, type SnapshotContext, unknownRevision } from './snapshots.js';

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
  const context: SnapshotContext = { options, plan, cache: cachesOf(options), runs: openHistory(options.file, console) };
  try {
    const { sides, targets } = await readWords(words, context);
    const resolved = resolveTargets({ plan, diagnostics: [], sources: new Map() }, targets);
    if (resolved.targets === undefined) {
      printDiagnostics(resolved.diagnostics, new Map(), console, 'read');
      return EXIT.usage;
    }
    const wanted = resolved.targets === 'all' ? undefined : new Set<string>(resolved.targets);
    const compared = compareSnapshots(...sides, options.all ? 'all' : 'changed', stage => wanted?.has(stage) ?? true);
    const present = sides.find(({ name }) => name === NOW);
    const outdated = present === undefined ? new Set<string>() : await findOutdated(plan, options, context.runs.at(-1));
    const concerned = [...(present?.stages.keys() ?? [])].filter(stage => outdated.has(stage) && (wanted?.has(stage) ?? true));
    const difference = concerned.length === 0 ? compared : markOutdated(compared, new Set(concerned));
    if (options.json) console.json(encodeDifference(difference));
    else {
      for (const line of formatDifference(difference, console)) console.line(line);
      if (concerned.length > 0) console.line(console.style('yellow', OUTDATED_NOTE));
    }
    return EXIT.built;
  } catch (error) {
    return endWithError(error, console, options, EXIT.usage);
  }
}

/** The name of the current results in a comparison. */
const NOW = 'now';

/** Results of earlier files are not those of now: their side is named "last results". */
function markOutdated(difference: SnapshotDifference, outdated: ReadonlySet<string>): SnapshotDifference {
  const rename = (side: string): string => (side === NOW ? 'last results' : side);
  const stages = difference.stages.map(stage => (outdated.has(stage.stage) ? { ...stage, outdated: true } : stage));
  return { ...difference, before: rename(difference.before), after: rename(difference.after), stages };
}

interface Words {
  readonly sides: readonly [before: Snapshot, after: Snapshot];
  readonly targets: readonly string[];
}

async function readWords(words: readonly string[], context: SnapshotContext): Promise<Words> {
  const [first, ...rest] = words;
  if (first === undefined) return { sides: [previousSnapshot(context), currentSnapshot(context)], targets: [] };
  const range = /^(.+)\.\.(.*)$/.exec(first);
  if (range !== null && !context.plan.targets.has(first)) {
    const [, from = '', to = ''] = range;
    return { sides: [await getSnapshot(from, context), await getSnapshot(to === '' ? 'now' : to, context)], targets: rest };
  }
  const before = await findSnapshot(first, context);
  if (before !== undefined) return { sides: [before, currentSnapshot(context)], targets: rest };
  if (context.plan.targets.has(first)) return { sides: [previousSnapshot(context), currentSnapshot(context)], targets: words };
  throw unknownRevision(first, context);
}

async function getSnapshot(name: string, context: SnapshotContext): Promise<Snapshot> {
  const found = await findSnapshot(name, context);
  if (found === undefined) throw unknownRevision(name, context);
  return found;
}
