/** Which nodes disappear from a model without changing what it computes? All passes, round after round, until none changes anything. */
import { InternalError } from '../../base/invariant.js';
import type { FindProblems } from '../check/check-model.js';
import type { Model } from '../ir/model.js';
import { OnnxError } from '../ir/onnx-error.js';
import { fixReshape, mergeReshapes, mergeTransposes } from '../rules/simplify/chains.js';
import { removeDivideByOne, removeMultiplyByOne } from '../rules/simplify/constant-factor.js';
import { foldBatchNormalization } from '../rules/simplify/fold-batch-normalization.js';
import { CHANNEL_AFFINE_RULES } from '../rules/simplify/fold-channel-affine.js';
import { foldPad, foldPoolPad } from '../rules/simplify/fold-pad.js';
import { fuseGelu } from '../rules/simplify/fuse-gelu.js';
import { fuseGemm } from '../rules/simplify/fuse-gemm.js';
import { fuseInstanceNorm } from '../rules/simplify/fuse-instance-norm.js';
import { fuseL2Normalization } from '../rules/simplify/fuse-l2-normalization.js';
import { fuseLayerNorm } from '../rules/simplify/fuse-layer-norm.js';
import { mergeConcats } from '../rules/simplify/merge-concats.js';
import { mergeSlices } from '../rules/simplify/merge-slices.js';
import { NO_OP_RULES } from '../rules/simplify/no-ops.js';
import { scalarRange } from '../rules/simplify/scalar-range.js';
import { sliceChannels } from '../rules/simplify/slice-channels.js';
import { splitBatchNormalization } from '../rules/simplify/split-batch-normalization.js';
import { fuseClippedSwish, fuseHardSwish } from '../rules/target/activations/hard-swish.js';
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

/** In the order of each round. */
export const SIMPLIFY_PASSES: readonly Pass[] = [
  freeInitializers,
  constantsToInitializers,
  foldShapes,
  foldConstants,
  inlineBranches,
  unrollLoops,
  ...NO_OP_RULES.map(passOfRule),
  ...[removeMultiplyByOne, removeDivideByOne].map(passOfRule),
  ...[mergeTransposes, mergeReshapes, mergeSlices, mergeConcats, sliceChannels, scalarRange, fixReshape].map(passOfRule),
  ...[splitBatchNormalization, foldBatchNormalization, ...CHANNEL_AFFINE_RULES, foldPad, foldPoolPad].map(passOfRule),
  ...[fuseGemm, fuseGelu, fuseLayerNorm, fuseInstanceNorm, fuseL2Normalization].map(passOfRule),
  { ...passOfRule(fuseHardSwish), name: 'fuse-hard-swish' },
  { ...passOfRule(fuseClippedSwish), name: 'fuse-clipped-swish' },
  mergeInitializers,
  mergeNodes,
  removeDead,
];

/** What follows from static shapes and constants alone, without fusing anything: the nodes left are the model's own. */
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
  /** The passes of a round, in order; every one that there is where absent. */
  readonly passes?: readonly Pass[];
  /** Names of passes to leave out. */
  readonly skip?: readonly string[];
  /** Finds problems of the graph: of its structure after each patch, of its operators too after each round. */
  readonly check: FindProblems;
}

export interface Simplified {
  readonly steps: readonly SimplifyStep[];
  /** Rounds until nothing changed, the last one included. */
  readonly rounds: number;
  /** What the last round left alone, and why. */
  readonly declined: readonly SimplifyDecline[];
}

/** Each round shrinks the graph, so that real models settle within ten. */
const MOST_ROUNDS = 100;

/**
 * Simplifies `model` in place to a fixed point. Names of the model's inputs and outputs stay; so does the name of every value that stays.
 * Types that follow are written into the values.
 * Nodes have to be in topological order.
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
    assertSound(model, done.changed, options.check);
    undone.push(...done.declined.filter(({ pass }) => done.undone.includes(pass)));
    left = left.filter(({ name }) => !done.undone.includes(name));
  }
  throw new InternalError(`simplify did not settle within ${MOST_ROUNDS} rounds`);
}

function assertSound(model: Model, changed: readonly SimplifyStep[], check: FindProblems): void {
  const problems = check(model, 'operators');
  if (problems.length === 0) return;
  const passes = changed.map(({ pass }) => pass);
  throw new OnnxError('patch-breaks-graph', `the passes ${passes.join(', ')} leave a graph that is not sound: ${problems[0]}`, {
    details: { passes, problems: [...problems] },
  });
}
