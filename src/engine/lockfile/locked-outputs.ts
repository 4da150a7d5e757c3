/**
 * The locked outputs that constrain each stage of a frozen build.
 * The inputs of a stage must match the lock file, and so must its outputs where this machine can reproduce them.
 */
import { getDefined } from '../../base/invariant.js';
import type { JsonObject } from '../../base/json.js';
import type { Change } from '../action/changes.js';
import { findChanges } from '../action/changes.js';
import type { AcceptedStage } from '../model/accepted-stage.js';
import type { Contents } from '../model/artifact.js';
import { EngineError } from '../model/engine-error.js';
import type { PlannedStage, StageId } from '../model/plan.js';
import type { LockVerdict } from '../model/report.js';
import { describeLockChange } from './describe-change.js';
import type { LockableAction } from './facts.js';
import { lockableOf } from './facts.js';
import type { Lock, LockedStage } from './lock.js';
import { differingNames, lockedContent, sameContents } from './lock.js';
import type { Portability } from './portability.js';

/** The outputs that a stage must or may have. */
export type AllowedOutputs =
  /** Exactly these outputs: locked for all machines, or for this platform class with the same inputs. */
  | { readonly kind: 'exactly'; readonly outputs: Contents }
  /** Locked for other platform classes with the same inputs, or for none: restored if the cache has the outputs, otherwise built here. */
  | { readonly kind: 'elsewhere'; readonly classes: ReadonlyMap<string, Contents> }
  /** Any outputs that the gates accept. */
  | { readonly kind: 'gates-alone' };

export interface LockedOutputs {
  readonly lock: Lock;
  readonly portability: ReadonlyMap<StageId, Portability>;
  /** The platform class of this machine; '' if nothing depends on it. */
  readonly platformClass: string;
  /** @throws EngineError `lock-differs` if the action is not the locked one. */
  of(stage: PlannedStage, manifest: JsonObject): AllowedOutputs;
  /** Call after `of` for the action of this result. */
  verdictOf(stage: StageId, accepted: AcceptedStage): LockVerdict;
}

export function makeLockedOutputs(lock: Lock, portability: ReadonlyMap<StageId, Portability>, platformClass: string): LockedOutputs {
  const allowedOf = new Map<StageId, AllowedOutputs>();
  return {
    lock,
    portability,
    platformClass,
    of(stage, manifest) {
      const action = lockableOf(stage, manifest, portability);
      const entry = lock.stages.get(stage.id);
      if (entry === undefined) throw differs('it is not in the lock file');
      const [first] = findLockChanges(entry, action, getDefined(portability.get(stage.id), stage.id));
      if (first !== undefined) throw differs(typeof first === 'string' ? first : describeLockChange(stage, first));
      const allowed = allowedOutputsOf(entry, action, platformClass);
      allowedOf.set(stage.id, allowed);
      return allowed;
    },
    verdictOf(stage, accepted) {
      const allowed = getDefined(allowedOf.get(stage), stage);
      if (allowed.kind === 'gates-alone') return 'by-gates';
      return allowed.kind === 'exactly' || findEqual(lockedResults(allowed), accepted.outputs) !== undefined ? 'as-locked' : 'rebuilt';
    },
  };
}

function allowedOutputsOf({ results }: LockedStage, { classInputs }: LockableAction, platformClass: string): AllowedOutputs {
  if (results.kind === 'measured') return { kind: 'gates-alone' };
  if (results.kind === 'same') return { kind: 'exactly', outputs: results.outputs };
  const fitting = [...results.classes].filter(([, { inputs }]) => sameContents(inputs, classInputs));
  const own = fitting.find(([name]) => name === platformClass)?.[1];
  return own === undefined
    ? { kind: 'elsewhere', classes: new Map(fitting.map(([name, { outputs }]) => [name, outputs])) }
    : { kind: 'exactly', outputs: own.outputs };
}

/** All differences between an action and the locked one. */
export function findLockChanges(entry: LockedStage, action: LockableAction, portability: Portability): readonly (Change | string)[] {
  const changes = findChanges(entry.facts, action.facts);
  if (changes.length > 0 || entry.results.kind === portability) return changes;
  return [`it is locked as ${WORDS[entry.results.kind]}, and is ${WORDS[portability]}`];
}

const WORDS: Readonly<Record<Portability, string>> = {
  same: 'the same on every machine',
  'per-class': 'dependent on the platform class',
  measured: 'measured',
};

type Outputs = AcceptedStage['outputs'] | Contents;

/** The locked result that equals these outputs. */
export function findEqual(results: readonly Contents[], outputs: Outputs): Contents | undefined {
  const contents = contentsOf(outputs);
  return results.find(result => sameContents(result, contents));
}

/** The locked results that are allowed. */
export function lockedResults(allowed: AllowedOutputs): readonly Contents[] {
  return allowed.kind === 'exactly' ? [allowed.outputs] : allowed.kind === 'elsewhere' ? [...allowed.classes.values()] : [];
}

/** @throws EngineError `locked-output-differs` if a run gave different bytes than the lock file requires. */
export function assertAllowed(allowed: AllowedOutputs, outputs: Contents): void {
  if (allowed.kind !== 'exactly') return;
  const differing = differingNames(allowed.outputs, contentsOf(outputs));
  if (differing.length === 0) return;
  const lines = differing.map(port => `output "${port}": ${say(outputs, port)}, locked: ${say(allowed.outputs, port)}`);
  throw new EngineError('locked-output-differs', `the stage gave different bytes than the locked ones: ${lines.join('; ')}`, {
    details: { outputs: [...differing] },
    help: 'it depends on something that it does not declare ("tanren build --check" runs it twice and compares), or the lock file was edited; "tanren build" without --frozen locks the new bytes',
  });
}

function say(contents: Contents, port: string): string {
  const content = contents[port];
  return content === undefined
    ? 'nothing'
    : `${content.kind === 'tree' ? 'folder' : 'file'} ${content.digest}${content.executable ? ' executable' : ''}`;
}

function contentsOf(outputs: Outputs): Contents {
  return Object.fromEntries(Object.entries(outputs).map(([port, content]) => [port, lockedContent(content)]));
}

function differs(what: string): EngineError {
  return new EngineError('lock-differs', what, { help: 'build again, or run "tanren build" without --frozen and commit the lock' });
}
