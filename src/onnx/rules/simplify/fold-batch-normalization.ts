/** Simplify rule `fold-batch-normalization`: a BatchNormalization is folded into the weights of the Conv, ConvTranspose or Gemm before it. */
import { getFloat } from '../../ir/attribute.js';
import { isInferenceBatchNormalization } from '../../ir/operator-traits.js';
import { any, constant, op, optional } from '../../rewrite/pattern.js';
import { decline, type RewriteRule } from '../../rewrite/rule.js';
import { foldAffine, LINEAR, readFloats } from '../shared/per-channel.js';

/** γ·(y − μ)/√(σ² + ε) + β = y·s + (β − μ·s) with s = γ/√(σ² + ε): Ioffe and Szegedy, 2015, section 3.1. */
export const foldBatchNormalization: RewriteRule = {
  name: 'fold-batch-normalization',
  proof: 'rounding',
  proofText:
    'Scale and shift of a BatchNormalization with fixed statistics are folded into the preceding weights; products round in another order.',
  pattern: op('BatchNormalization', {
    inputs: [
      op(LINEAR, { name: 'linear', inputs: [any('x'), constant('weight'), optional(constant('bias'))] }),
      constant('gamma'),
      constant('beta'),
      constant('mean'),
      constant('variance'),
    ],
  }),
  rewrite(match) {
    if (!isInferenceBatchNormalization(match.node)) return decline('it is in training mode', match.node);
    const [gamma, beta, mean, variance] = ['gamma', 'beta', 'mean', 'variance'].map(name => readFloats(match.constant(name)));
    if (gamma === undefined || beta === undefined || mean === undefined || variance === undefined)
      return decline('its parameters are not float16, float32 or float64', match.node);
    const epsilon = getFloat(match.node, 'epsilon', Math.fround(1e-5));
    const scale = gamma.map((value, index) => value / Math.sqrt((variance[index] ?? 0) + epsilon));
    const shift = beta.map((value, index) => value - (mean[index] ?? 0) * (scale[index] ?? 0));
    return foldAffine(match, match.inner('linear'), { scale, shift });
  },
};
