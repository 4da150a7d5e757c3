/** One round of simplify: each pass once, in order. A pass after which shapes contradict each other is undone and not run again. */
import { cloneModel } from '../ir/clone.js';
import type { Model } from '../ir/model.js';
import { OnnxError } from '../ir/onnx-error.js';
import type { ProofClass } from '../rewrite/rule.js';
import { type Inference, inferShapes, startInference, writeTypes } from '../shape-inference/infer-shapes.js';
import type { Pass, PassContext, PassOutcome } from './pass.js';

/** What one pass did in one round. */
export interface SimplifyStep {
  readonly round: number;
  readonly pass: string;
  readonly proof: ProofClass;
  readonly proofText: string;
  /** Labels of the changed nodes or values, in order. */
  readonly changed: readonly string[];
}

/** A place that a pass did not change, with the reason. */
export interface SimplifyDecline {
  readonly pass: string;
  readonly node: string;
  readonly reason: string;
}

export interface Round {
  readonly changed: readonly SimplifyStep[];
  readonly declined: readonly SimplifyDecline[];
  /** Names of passes that were undone because shapes contradicted each other after them. */
  readonly undone: readonly string[];
}

const CONTRADICTIONS = new Set(['shape-mismatch', 'shape-contradiction']);

export type RoundOptions = Omit<PassContext, 'infer'>;

/** Runs `passes` on `model`, whose types are known, and writes the inferred types into it. */
export async function runRound(model: Model, passes: readonly Pass[], options: RoundOptions, round: number): Promise<Round> {
  const before = cloneModel(model);
  try {
    const outcomes = [];
    /** Reused between passes until one changes the model. */
    let known: Inference | undefined;
    const context: PassContext = {
      ...options,
      infer(of) {
        known ??= startInference(of);
        return known;
      },
    };
    for (const pass of passes) {
      const outcome = await pass.run(model, context);
      if (outcome.changed.length > 0) known = undefined;
      outcomes.push({ pass, outcome });
    }
    writeTypes(model, inferShapes(model));
    return makeRound(round, outcomes, []);
  } catch (error) {
    findContradiction(error);
    Object.assign(model, before);
    return runGuarded(model, passes, options, round);
  }
}

type Ran = readonly { readonly pass: Pass; readonly outcome: PassOutcome }[];

/** Runs the round again with shape inference after each pass, to find the pass that is to be undone. */
async function runGuarded(model: Model, passes: readonly Pass[], options: RoundOptions, round: number): Promise<Round> {
  const outcomes: { pass: Pass; outcome: PassOutcome }[] = [];
  const undone: string[] = [];
  for (const pass of passes) {
    const before = cloneModel(model);
    try {
      const outcome = await pass.run(model, { ...options, infer: startInference });
      writeTypes(model, inferShapes(model));
      outcomes.push({ pass, outcome });
    } catch (error) {
      const reason = `undone, because shapes would contradict each other: ${findContradiction(error)}`;
      Object.assign(model, before);
      outcomes.push({ pass, outcome: { changed: [], declined: [{ node: `graph "${model.graph.name}"`, reason }] } });
      undone.push(pass.name);
    }
  }
  return makeRound(round, outcomes, undone);
}

/** The message of a shape contradiction. @throws any other error. */
function findContradiction(error: unknown): string {
  if (error instanceof OnnxError && CONTRADICTIONS.has(error.code)) return error.message;
  throw error;
}

function makeRound(round: number, ran: Ran, undone: readonly string[]): Round {
  const changed = ran.filter(({ outcome }) => outcome.changed.length > 0);
  return {
    changed: changed.map(({ pass, outcome }) => ({
      round,
      pass: pass.name,
      proof: outcome.proof ?? pass.proof,
      proofText: pass.proofText,
      changed: outcome.changed,
    })),
    declined: ran.flatMap(({ pass, outcome }) => outcome.declined.map(entry => ({ pass: pass.name, ...entry }))),
    undone,
  };
}
