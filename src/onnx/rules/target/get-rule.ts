/** The code of each form in the rule table, and the lookup of a complete rule by name and form. */
import { getDefined } from '../../../base/invariant.js';
import { OnnxError } from '../../ir/onnx-error.js';
import type { RewriteRule, RuleCode } from '../../rewrite/rule.js';
import { type FormOf, findRuleForm, findRuleProblem, type RuleName } from '../rule-table.js';
import { clipToRelu, clipToReluInRange, completeClip } from './activations/clip-forms.js';
import { dpuAveragePool, dpuHardSigmoid } from './activations/dpu-factors.js';
import { fixHardSigmoidSlope } from './activations/hard-sigmoid-slope.js';
import { decomposeHardSwish, fuseClippedSwish, fuseHardSwish } from './activations/hard-swish.js';
import { leakyReluTo256ths, preluToLeakyRelu } from './activations/leaky-relu.js';
import { hardenSigmoid, hardenSilu } from './activations/piecewise-linear.js';
import { geluToSigmoid, mishToSigmoid, softplusToRelu } from './activations/sigmoid-gates.js';
import { siluToTwoGates } from './activations/two-gates.js';
import { foldAffineIntoConv } from './convolutions/affine-conv.js';
import { batchNormToConv } from './convolutions/batch-norm-conv.js';
import { conv1dTo2d } from './convolutions/conv-1d.js';
import { convOfConcatToSum } from './convolutions/conv-of-concat.js';
import { convTransposeToDepthToSpace } from './convolutions/conv-transpose-depth-to-space.js';
import { makePadsExplicit } from './convolutions/explicit-pads.js';
import { gemmToConv } from './convolutions/gemm-conv.js';
import { groupConvToDense, groupConvToSplit } from './convolutions/group-conv.js';
import { removeOutputPadding } from './convolutions/output-padding.js';
import { absorbBiases } from './equalization/absorb-biases.js';
import { channelFactors } from './equalization/channel-factors.js';
import { equalize } from './equalization/equalize.js';
import { cutLeadingMoves, cutTrailingMoves } from './layout/cut-moves.js';
import { decomposePixelShuffle, fusePixelShuffle } from './layout/pixel-shuffle.js';
import { splitToSlices } from './layout/split-slice.js';
import { stridedSliceToConv, stridedSliceToGather } from './layout/strided-slice.js';
import { pushTranspose } from './layout/transpose-push.js';
import { unshareConstants } from './layout/unshare-constants.js';
import { splitLargePool } from './pools/large-pool.js';
import { MAXPOOL_1X1 } from './pools/maxpool-1x1.js';
import { reduceMeanToPool } from './pools/reduce-mean-pool.js';
import { resizeToConvTranspose } from './resize/resize-conv-transpose.js';
import { resizeToDepthToSpace } from './resize/resize-depth-to-space.js';
import { resizeLinearToConvTranspose } from './resize/resize-linear-conv-transpose.js';
import { resizeByScales } from './resize/resize-scales.js';

const CODE: { readonly [Name in RuleName]: Readonly<Record<FormOf<Name>, RuleCode>> } = {
  'absorb-biases': { '': absorbBiases },
  'affine-conv': { '': foldAffineIntoConv },
  'batch-norm-conv': { '': batchNormToConv },
  'channel-factors': { mul: channelFactors('mul'), depthwise: channelFactors('depthwise') },
  clip: {
    bounds: completeClip,
    relu: clipToRelu('unbounded'),
    'relu-in-range': clipToReluInRange,
    'relu-unbounded': clipToRelu('any-bound'),
  },
  'conv-1d': { '': conv1dTo2d },
  'conv-of-concat': { '': convOfConcatToSum },
  'conv-transpose-depth-to-space': { '': convTransposeToDepthToSpace },
  'cut-moves': { trailing: cutTrailingMoves, leading: cutLeadingMoves },
  'dpu-factors': { 'average-pool': dpuAveragePool, 'hard-sigmoid': dpuHardSigmoid },
  equalize: { real: equalize('real'), 'power-of-two': equalize('power-of-two') },
  'explicit-pads': { '': makePadsExplicit },
  'gelu-sigmoid': { '': geluToSigmoid },
  'gemm-conv': { '': gemmToConv },
  'group-conv': { split: groupConvToSplit, dense: groupConvToDense },
  'hard-sigmoid-slope': { '': fixHardSigmoidSlope },
  'hard-swish': { decompose: decomposeHardSwish, fuse: fuseHardSwish, 'fuse-clip': fuseClippedSwish },
  'large-pool': { '': splitLargePool },
  'leaky-relu-256ths': { '': leakyReluTo256ths },
  'maxpool-1x1': MAXPOOL_1X1,
  'mish-sigmoid': { '': mishToSigmoid },
  'output-padding': { '': removeOutputPadding },
  'pixel-shuffle': { decompose: decomposePixelShuffle, fuse: fusePixelShuffle },
  'prelu-leaky-relu': { '': preluToLeakyRelu },
  'reduce-mean-pool': { '': reduceMeanToPool },
  'resize-conv-transpose': { '': resizeToConvTranspose },
  'resize-depth-to-space': { '': resizeToDepthToSpace },
  'resize-linear-conv-transpose': { '': resizeLinearToConvTranspose },
  'resize-scales': { '': resizeByScales },
  'sigmoid-hard': { '': hardenSigmoid },
  'silu-hard-swish': { '': hardenSilu },
  'silu-two-hard-sigmoids': { '': siluToTwoGates },
  'softplus-relu': { '': softplusToRelu },
  'split-slice': { '': splitToSlices },
  'strided-slice': { gather: stridedSliceToGather, conv: stridedSliceToConv },
  'transpose-push': { '': pushTranspose },
  'unshare-constants': { '': unshareConstants },
};
const BY_NAME: Readonly<Record<string, Readonly<Record<string, RuleCode>>>> = CODE;

/** The rule with this name and form. @throws OnnxError `unknown-rule`, `unknown-form`. */
export function getRule(name: string, form: string | undefined): RewriteRule {
  const problem = findRuleProblem(name, form);
  if (problem !== undefined) throw new OnnxError(problem.code, problem.message, { help: problem.help });
  const label = form === undefined ? name : `${name}/${form}`;
  const { proof } = getDefined(findRuleForm(name, form), `rule ${label} in the table`);
  return { name, proof, ...getDefined(BY_NAME[name]?.[form ?? ''], `code of rule ${label}`) };
}
