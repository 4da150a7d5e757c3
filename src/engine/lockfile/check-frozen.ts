/**
 * The check that the lock file matches the project, made before anything runs.
 * All differences are reported together, each at its line of the lock file.
 */
import { digestBytes } from '../../base/digest.js';
import { getDefined } from '../../base/invariant.js';
import { keyOf } from '../action/manifest.js';
import type { Session } from '../action/session.js';
import type { Contents } from '../model/artifact.js';
import type { Diagnostic } from '../model/diagnostic.js';
import { EngineError } from '../model/engine-error.js';
import type { KnownResult } from '../model/known-result.js';
import type { PlannedStage, StageId } from '../model/plan.js';
import type { SourceSpan } from '../model/source-span.js';
import { describeLockChange } from './describe-change.js';
import { lockableOf } from './facts.js';
import type { LockedStage } from './lock.js';
import { readLockFile } from './lock-file.js';
import type { LockFile } from './lock-path.js';
import { LockRefused, linesOf } from './lock-refused.js';
import type { LockedOutputs } from './locked-outputs.js';
import { findLockChanges, makeLockedOutputs } from './locked-outputs.js';
import { findOutputs, madeFromOthers } from './next-lock.js';
import { findLine } from './outline.js';
import { findPortability, namedInputs } from './portability.js';

export interface FrozenLock {
  readonly file: LockFile;
  readonly text: string;
  /** The position of a label of an entry's facts. */
  readonly placeOf: (entry: LockedStage, label: string) => SourceSpan;
  readonly lockedOutputs: LockedOutputs;
}

/**
 * Reads the lock file of a frozen build.
 * @param platformClass of this machine.
 * @throws LockRefused `lock-missing` and the errors of `readLockFile`.
 */
export function openFrozen({ plan }: Session, file: LockFile, platformClass: string): FrozenLock {
  const read = readLockFile(file);
  if (read === undefined) {
    const help = 'run "tanren build" without --frozen, and commit the file';
    const message = `${file.name}: file not found; --frozen needs a lock file`;
    throw new LockRefused([{ severity: 'error', code: 'lock-missing', message, span: undefined, help }], new Map());
  }
  let lines: ReturnType<typeof linesOf> | undefined;
  return {
    file,
    text: read.text,
    placeOf({ outline }, label) {
      lines ??= linesOf(file.name, read.text);
      return lines(outline === undefined ? 1 : findLine(outline, label));
    },
    lockedOutputs: makeLockedOutputs(read.lock, findPortability(plan), platformClass),
  };
}

/** Reads the sources. @throws LockRefused with every difference. */
export async function assertLocked(session: Session, frozen: FrozenLock, selected: readonly PlannedStage[]): Promise<void> {
  const found = [...(await findDifferences(session, frozen, selected)), ...findRemovedStages(session, frozen, selected)];
  if (found.length === 0) return;
  const help = 'revert the differences, or run "tanren build" without --frozen and commit the lock';
  const reported = limit(found);
  const diagnostics = reported.map((one, index): Diagnostic => (index === reported.length - 1 ? { ...one, help: one.help ?? help } : one));
  throw new LockRefused(diagnostics, new Map([[frozen.file.name, frozen.text]]));
}

/** Maximum number of differences that are listed. The rest is reported as a count. */
const MOST = 100;

function limit(found: readonly Diagnostic[]): readonly Diagnostic[] {
  if (found.length <= MOST) return found;
  return [...found.slice(0, MOST), difference(`and ${found.length - MOST} more differences`)];
}

/** Stages of the lock file that the pipeline does not have. Checked only if all stages of the plan are selected. */
export function findRemovedStages(
  { plan }: Session,
  { placeOf, lockedOutputs }: FrozenLock,
  selected: readonly PlannedStage[],
): readonly Diagnostic[] {
  if (selected.length < plan.stages.size) return [];
  const known: ReadonlySet<string> = new Set(plan.stages.keys());
  return [...lockedOutputs.lock.stages]
    .filter(([id]) => !known.has(id))
    .map(([id, entry]) => difference(`stage "${id}" is in the lock file, but not in the pipeline`, placeOf(entry, '')));
}

async function findDifferences(
  session: Session,
  { file, placeOf, lockedOutputs }: FrozenLock,
  selected: readonly PlannedStage[],
): Promise<readonly Diagnostic[]> {
  const predicted = new Map<StageId, KnownResult>();
  const differing = new Set<StageId>();
  const found: Diagnostic[] = [];
  const otherCode = new Map<string, { readonly span: SourceSpan; readonly stages: StageId[] }>();
  for (const stage of selected) {
    const entry = lockedOutputs.lock.stages.get(stage.id);
    const before = found.length;
    if (entry === undefined) found.push(difference(`stage "${stage.id}" is not in ${file.name}`, stage.span));
    else {
      try {
        const { manifest } = await session.pinner.pin(stage, id => predicted.get(id));
        for (const [message, label] of compare(stage, entry, manifest, lockedOutputs, differing)) {
          const group = otherCode.get(entry.facts.plugin);
          if (label !== 'code') found.push(difference(`stage "${stage.id}": ${message}`, placeOf(entry, label)));
          else if (group === undefined) otherCode.set(entry.facts.plugin, { span: placeOf(entry, label), stages: [stage.id] });
          else group.stages.push(stage.id);
        }
      } catch (error) {
        if (!(error instanceof EngineError)) throw error;
        const { code, message, help } = error;
        found.push({ severity: 'error', code, message: `stage "${stage.id}": ${message}`, span: stage.span, help });
      }
    }
    if (found.length > before) differing.add(stage.id);
    predicted.set(stage.id, predict(stage, entry, lockedOutputs));
  }
  return [...found, ...[...otherCode].map(([plugin, { span, stages }]) => difference(describeCode(plugin, stages), span))];
}

/** Reported once per plugin, because another version of Tanren may have different code for every stage. */
function describeCode(plugin: string, [first = '', ...more]: readonly string[]): string {
  const others = more.length === 0 ? '' : ` and ${more.length} more stage${more.length === 1 ? '' : 's'}`;
  return `plugin "${plugin}" has different code than the locked one (stage "${first}"${others})`;
}

/** The differences of a stage, each with its label in the facts. A difference caused by an earlier stage is reported at that stage. */
function compare(
  stage: PlannedStage,
  entry: LockedStage,
  manifest: Parameters<typeof lockableOf>[1],
  { lock, portability, platformClass }: LockedOutputs,
  differing: ReadonlySet<StageId>,
): readonly (readonly [message: string, label: string])[] {
  const fromDiffering = new Set(
    namedInputs(stage).flatMap(([name, ref]) => (ref.kind === 'artifact' && differing.has(ref.stage) ? [`inputs.${name}`] : [])),
  );
  const action = lockableOf(stage, manifest, portability);
  const changes = findLockChanges(entry, action, getDefined(portability.get(stage.id), stage.id));
  const reported = changes.flatMap((change): (readonly [string, string])[] => {
    if (typeof change === 'string') return [[change, '']];
    return fromDiffering.has(change.label) ? [] : [[describeLockChange(stage, change), change.label]];
  });
  const own = entry.results.kind === 'per-class' ? entry.results.classes.get(platformClass) : undefined;
  const others = own === undefined || reported.length > 0 ? [] : madeFromOthers(entry.facts, own, platformClass, lock.stages);
  return [
    ...reported,
    ...others.map(
      ([name, from]) =>
        [
          `it is locked with another ${from} than the one that is locked for this platform class`,
          `classes.${platformClass}.inputs.${name}`,
        ] as const,
    ),
  ];
}

/** The expected result of a stage according to the lock file, used for the actions of the stages that read it. */
function predict(stage: PlannedStage, entry: LockedStage | undefined, { platformClass }: LockedOutputs): KnownResult {
  const own = findOutputs(entry, platformClass);
  const any = entry?.results.kind === 'per-class' ? [...entry.results.classes.values()][0]?.outputs : undefined;
  const unknown = { kind: 'file' as const, digest: digestBytes(''), executable: false };
  const contents: Contents = own ?? any ?? Object.fromEntries(Object.keys(stage.outputPorts).map(port => [port, unknown]));
  const outputs = Object.fromEntries(
    Object.entries(contents).map(([port, content]) => [port, { ...content, sizeBytes: 0, signature: '' }]),
  );
  return { key: keyOf({ predicted: stage.id }), outputs };
}

function difference(message: string, span?: SourceSpan): Diagnostic {
  return { severity: 'error', code: 'lock-differs', message, span, help: undefined };
}
