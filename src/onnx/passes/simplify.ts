/** The passes of simplify and their repetition, round after round, until none changes the model. */
import { InternalError } from '../../base/invariant.js';
import type { FindProblems } from '../check/check-model.js';
import type { Model } from '../ir/model.js';
import { OnnxError } from '../ir/onnx-error.js';
import { cancelTransposes } from '../rules/simplify/cancel-transposes.js';
import { foldBatchNormalization } from '../rules/simplify/fold-batch-normalization.js';
import { CHANNEL_AFFINE_RULES } from '../rules/simplify/fold-channel-affine.js';
import { foldPad, foldPoolPad } from '../rules/simplify/fold-pad.js';
import { fuseGelu } from '../rules/simplify/fuse-gelu.js';
import { fuseGemm } from '../rules/simplify/fuse-gemm.js';
import { fuseInstanceNorm } from '../rules/simplify/fuse-instance-norm.js';
import { fuseL2Normalization } from '../rules/simplify/fuse-l2-normalization.js';
import { fuseLayerNorm } from '../rules/simplify/fuse-layer-norm.js';
import { mergeConcats } from '../rules/simplify/merge-concats.js';
import { fixFreeReshape, fixReshape, mergeReshapes, mergeTransposes, reshapeBeforeTranspose } from '../rules/simplify/merge-reshapes.js';
import { mergeSlices } from '../rules/simplify/merge-slices.js';
import { NO_OP_RULES } from '../rules/simplify/no-ops.js';
import { removeAddZero, removeDivideByOne, removeMultiplyByOne, removeSubtractZero } from '../rules/simplify/remove-unit-factor.js';
import { scalarRange } from '../rules/simplify/scalar-range.js';
import { sliceChannels } from '../rules/simplify/slice-channels.js';
import { splitBatchNormalization } from '../rules/simplify/split-batch-normalization.js';
import { getRule } from '../rules/target/get-rule.js';
import { inferShapes, writeTypes } from '../shape-inference/infer-shapes.js';
import { constantsToInitializers, freeInitializers, mergeInitializers } from './constants.js';
import type { Evaluate } from './evaluate.js';
import { foldConstants } from './fold-constants.js';
import { foldShapes } from './fold-shapes.js';
import { inlineBranches } from './inline-branches.js';
import { mergeNodes } from './merge-nodes.js';
import { type Pass, passOfRule } from './pass.js';
import { removeDead } from './remove-dead.js';
import { runRound, type SimplifyDecline, type SimplifyStep } from './run-round.js';
import { unrollLoops } from './unroll-loops.js';

/** All passes, in the order of a round. */
export const SIMPLIFY_PASSES: readonly Pass[] = [
  freeInitializers,
  constantsToInitializers,
  foldShapes,
  foldConstants,
  inlineBranches,
  unrollLoops,
  ...NO_OP_RULES.map(passOfRule),
  ...[removeMultiplyByOne, removeDivideByOne, removeAddZero, removeSubtractZero].map(passOfRule),
  ...[
    mergeTransposes,
    cancelTransposes,
    mergeReshapes,
    reshapeBeforeTranspose,
    mergeSlices,
    mergeConcats,
    sliceChannels,
    scalarRange,
    fixReshape,
    fixFreeReshape,
  ].map(passOfRule),
  ...[splitBatchNormalization, foldBatchNormalization, ...CHANNEL_AFFINE_RULES, foldPad, foldPoolPad].map(passOfRule),
  ...[fuseGemm, fuseGelu, fuseLayerNorm, fuseInstanceNorm, fuseL2Normalization].map(passOfRule),
  { ...passOfRule(getRule('hard-swish', 'fuse')), name: 'fuse-hard-swish' },
  { ...passOfRule(getRule('hard-swish', 'fuse-clip')), name: 'fuse-clipped-swish' },
  mergeInitializers,
  mergeNodes,
  removeDead,
];

/** Passes that use static shapes and constants only and fuse nothing: the nodes that are left are those of the original model. */
export const FOLDING_PASSES: readonly Pass[] = [
  freeInitializers,
  constantsToInitializers,
  foldShapes,
  foldConstants,
  passOfRule(fixReshape),
  removeDead,
];

export interface SimplifyOptions {
  readonly evaluate: Evaluate;
  /** The largest constant that folding may create, in bytes. */
  readonly foldLimitBytes: number;
  /** The passes of a round, in order; default: all. */
  readonly passes?: readonly Pass[];
  /** Names of passes to leave out. */
  readonly skip?: readonly string[];
  /** Finds problems of the graph: structure after each patch, operators after each round. */
  readonly check: FindProblems;
}

export interface Simplified {
  readonly steps: readonly SimplifyStep[];
  /** Number of rounds, including the last one, which changed nothing. */
  readonly rounds: number;
  /** Places that the last round did not change, with reasons. */
  readonly declined: readonly SimplifyDecline[];
}

/** Each round shrinks the graph; real models need fewer than ten rounds. */
const MOST_ROUNDS = 100;

/**
 * Simplifies `model` in place to a fixed point. Inputs, outputs and all remaining values keep their names. Inferred types are written into the values.
 * Nodes must be in topological order.
 * @throws OnnxError what shape inference throws; `patch-breaks-graph`: a defect of a pass.
 */
export async function simplifyToFixedPoint(model: Model, options: SimplifyOptions): Promise<Simplified> {
  const passes = (options.passes ?? SIMPLIFY_PASSES).filter(pass => options.skip?.includes(pass.name) !== true);
  const steps: SimplifyStep[] = [];
  const undone: SimplifyDecline[] = [];
  let left = passes;
  writeTypes(model, inferShapes(model));
  for (let round = 1; round <= MOST_ROUNDS; round++) {
    const done = await runRound(model, left, options, round);
    steps.push(...done.changed);
    if (done.changed.length === 0) return { steps, rounds: round, declined: [...undone, ...done.declined] };
    assertValid(model, done.changed, options.check);
    undone.push(...done.declined.filter(({ pass }) => done.undone.includes(pass)));
    left = left.filter(({ name }) => !done.undone.includes(name));
  }
  throw new InternalError(`simplify did not reach a fixed point within ${MOST_ROUNDS} rounds`);
}

function assertValid(model: Model, changed: readonly SimplifyStep[], check: FindProblems): void {
  const problems = check(model, 'operators');
  if (problems.length === 0) return;
  const passes = changed.map(({ pass }) => pass);
  throw new OnnxError('patch-breaks-graph', `the passes ${passes.join(', ')} leave an invalid graph: ${problems[0]}`, {
    details: { passes, problems: [...problems] },
  });
}
