/**
 * Computes the lock file after a build.
 * Results for this platform class are entered. Those of other classes are kept if they still belong to the same action.
 */

import { assertNever } from '../../base/assert-never.js';
import { encodeCanonicalJson } from '../../base/json/canonical-json.js';
import type { Content, Contents } from '../model/artifact.js';
import type { StageId } from '../model/plan.js';
import type { ClassResult, Facts, Lock, LockedResults, LockedStage } from './lock.js';
import { sameContent } from './lock.js';
import type { Portability } from './portability.js';

export interface BuiltStage {
  readonly id: StageId;
  readonly facts: Facts;
  readonly portability: Portability;
  readonly classInputs: Contents;
  readonly outputs: Contents;
}

/**
 * @param built in the order of the plan.
 * @param scope 'whole': everything was built, and entries of other stages are removed; 'part': other entries are kept.
 * @param platformClass of this machine.
 */
export function nextLock(before: Lock | undefined, built: readonly BuiltStage[], scope: 'whole' | 'part', platformClass: string): Lock {
  const stages = new Map<string, LockedStage>(scope === 'whole' ? [] : before?.stages);
  for (const stage of built) {
    const results = resultsOf(stage, before?.stages.get(stage.id), stages, platformClass);
    stages.set(stage.id, { facts: stage.facts, results });
  }
  return { stages };
}

function resultsOf(
  { facts, portability, classInputs, outputs }: BuiltStage,
  before: LockedStage | undefined,
  stages: ReadonlyMap<string, LockedStage>,
  platformClass: string,
): LockedResults {
  switch (portability) {
    case 'same':
      return { kind: 'same', outputs };
    case 'measured':
      return { kind: 'measured' };
    case 'per-class': {
      const kept = before?.results.kind === 'per-class' && sameFacts(before.facts, facts) ? before.results.classes : [];
      const others = [...kept].filter(([name, result]) => name !== platformClass && belongs(facts, result, name, stages));
      return { kind: 'per-class', classes: new Map([...others, [platformClass, { inputs: classInputs, outputs }]]) };
    }
    default:
      return assertNever(portability);
  }
}

/**
 * Whether the result was made from the locked outputs of earlier stages on the same platform class. False if one of these outputs is no
 * longer locked.
 */
function belongs(facts: Facts, result: ClassResult, className: string, stages: ReadonlyMap<string, LockedStage>): boolean {
  return madeFrom(facts, result, className, stages).every(({ locked, content }) => sameContent(locked, content));
}

/**
 * Inputs whose locked content for the platform class differs from the content that this result was made from: the name of each input, and
 * what it reads.
 */
export function madeFromOthers(
  facts: Facts,
  result: ClassResult,
  className: string,
  stages: ReadonlyMap<string, LockedStage>,
): readonly (readonly [input: string, from: string])[] {
  return madeFrom(facts, result, className, stages)
    .filter(({ locked, content }) => locked !== undefined && !sameContent(locked, content))
    .map(({ name, from }) => [name, from]);
}

interface MadeFrom {
  readonly name: string;
  /** "stage.port". */
  readonly from: string;
  /** The content that the result was made from. `locked` is the content in the lock file. */
  readonly content: Content;
  readonly locked: Content | undefined;
}

function madeFrom(facts: Facts, { inputs }: ClassResult, className: string, stages: ReadonlyMap<string, LockedStage>): readonly MadeFrom[] {
  return Object.entries(inputs).map(([name, content]) => {
    const from = String(facts.inputs[name]);
    const dot = from.lastIndexOf('.');
    return { name, from, content, locked: findOutputs(stages.get(from.slice(0, dot)), className)?.[from.slice(dot + 1)] };
  });
}

/** The locked outputs of a stage for a platform class. */
export function findOutputs(stage: LockedStage | undefined, className: string): Contents | undefined {
  if (stage === undefined || stage.results.kind === 'measured') return undefined;
  return stage.results.kind === 'same' ? stage.results.outputs : stage.results.classes.get(className)?.outputs;
}

export function sameFacts(a: Facts, b: Facts): boolean {
  return encodeCanonicalJson(a) === encodeCanonicalJson(b);
}
